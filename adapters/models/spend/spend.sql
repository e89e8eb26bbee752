-- Limits of spending, what is set aside under them, and what has been spent.

-- part: nil
-- The subject that stands for all users.
'00000000-0000-0000-0000-000000000000'::uuid

-- part: own_limits
-- The limits that hold for the user of `asked`, with the name of the group whose they are: one that
-- is theirs alone goes before those of groups, of which the highest holds; that of everyone counts
-- where no other group has one.
own_limits AS (
    SELECT DISTINCT ON (l.period)
           l.scope, CASE l.scope WHEN 'group' THEN coalesce(g.name, 'everyone') ELSE '' END AS name,
           a.user_id AS subject_id, l.period,
           l.hard_micros, l.soft_micros
      FROM asked a
      JOIN spend_limits l
        ON (l.scope = 'user' AND l.subject_id = a.user_id)
        OR (l.scope = 'group'
            AND (l.subject_id = (SELECT organization_id FROM deployment)
                 OR l.subject_id IN (SELECT m.group_id FROM group_members m
                                      WHERE m.user_id = a.user_id)))
      LEFT JOIN groups g ON l.scope = 'group' AND g.id = l.subject_id
     ORDER BY l.period,
              l.scope = 'user' DESC,
              l.subject_id <> (SELECT organization_id FROM deployment) DESC,
              l.hard_micros DESC NULLS FIRST,
              l.soft_micros DESC NULLS FIRST
), limits AS MATERIALIZED (
    SELECT l.*, CASE l.period WHEN 'day' THEN a.today ELSE a.month END AS starts_on
      FROM asked a,
           (SELECT * FROM own_limits
            UNION ALL
            SELECT scope, '', {nil}, period, hard_micros, soft_micros
              FROM spend_limits
             WHERE scope = 'deployment') AS l
)

-- part: asked_times
-- The day and the month of UTC in which a moment lies; null: now.
(coalesce(%(at)s::timestamptz, now()) AT TIME ZONE 'UTC')::date AS today,
date_trunc('month', coalesce(%(at)s::timestamptz, now()) AT TIME ZONE 'UTC')::date AS month

-- name: reserve_spend
-- Set money aside for a call, unless a limit does not allow it; and what the limits were then. All
-- counters of the user and of all users are locked first, in one order, so that of any number of
-- processes each sees what the others have set aside. A limit whose counter has not been added up
-- is answered with null: then nothing is set aside. Asking twice under one id reserves once.
WITH asked AS MATERIALIZED (
    SELECT c.owner_id AS user_id, coalesce(c.root_id, c.id) AS root_id, {asked_times}
      FROM chats c
     WHERE c.id = %(chat)s
), {own_limits}, locked AS MATERIALIZED (
    SELECT c.*
      FROM asked a
      JOIN spend_counters c
        ON c.subject_id IN (a.user_id, {nil})
       AND (c.period, c.starts_on) IN (('day', a.today), ('month', a.month))
     WHERE EXISTS (SELECT FROM limits)
     ORDER BY c.subject_id, c.period, c.starts_on
       FOR NO KEY UPDATE OF c
), standing AS MATERIALIZED (
    SELECT l.*, c.spent_micros, c.reserved_micros,
           EXISTS (SELECT FROM asked a
                     JOIN spend_consents s ON s.root_id = a.root_id
                    WHERE (s.subject_id, s.period, s.starts_on)
                        = (l.subject_id, l.period, l.starts_on)
                      AND s.soft_micros >= l.soft_micros) AS is_agreed
      FROM limits l
      LEFT JOIN locked c
        ON (c.subject_id, c.period, c.starts_on) = (l.subject_id, l.period, l.starts_on)
       AND c.counted_at IS NOT NULL
       -- The user's own are opened under any limit: costs that are stored as unknown are known to
       -- counters alone.
       AND (SELECT count(*) FROM locked o, asked a WHERE o.subject_id = a.user_id) = 2
), reserved AS (
    INSERT INTO spend_reservations (id, worker_id, chat_id, user_id, day, what, micros)
    SELECT %(id)s, %(worker)s, %(chat)s, a.user_id, a.today, %(what)s, %(micros)s
      FROM asked a
     WHERE %(micros)s::bigint IS NOT NULL
       AND EXISTS (SELECT FROM standing)
       AND NOT EXISTS (
               SELECT FROM standing
                WHERE spent_micros IS NULL
                   OR spent_micros + reserved_micros >= hard_micros
                   OR (%(asks)s AND NOT is_agreed
                       AND spent_micros + reserved_micros >= soft_micros))
    ON CONFLICT (id) DO NOTHING
    RETURNING id
), counted AS (
    UPDATE spend_counters c
       SET reserved_micros = c.reserved_micros + %(micros)s
      FROM locked k
     WHERE (c.subject_id, c.period, c.starts_on) = (k.subject_id, k.period, k.starts_on)
       AND EXISTS (SELECT FROM reserved)
)
SELECT a.user_id, a.today,
       EXISTS (SELECT FROM reserved)
           OR EXISTS (SELECT FROM spend_reservations r WHERE r.id = %(id)s),
       s.scope, s.name, s.period, s.starts_on, s.hard_micros, s.soft_micros, s.spent_micros,
       s.reserved_micros, s.is_agreed
  FROM asked a
  LEFT JOIN standing s ON true
 ORDER BY s.scope, s.period;

-- name: open_counters
-- Make the counters of a user and of all users for a day and its month. It is committed before they
-- are added up: from then on every write finds them.
INSERT INTO spend_counters (subject_id, period, starts_on)
SELECT s.subject_id, p.period, p.starts_on
  FROM (VALUES (%(user)s::uuid), ({nil})) AS s(subject_id),
       (VALUES ('day', %(day)s::date), ('month', date_trunc('month', %(day)s::date)::date))
           AS p(period, starts_on)
 ORDER BY 1, 2, 3
ON CONFLICT DO NOTHING;

-- name: lock_counters
-- Lock those of these counters that are not up to date, so that none of what is added up can move
-- meanwhile. Those of all users mostly are, and every call under a limit would wait for them.
SELECT c.subject_id, c.period, c.starts_on
  FROM spend_counters c
 WHERE c.subject_id IN (%(user)s, {nil})
   AND (c.period, c.starts_on) IN (('day', %(day)s::date),
                                   ('month', date_trunc('month', %(day)s::date)::date))
   AND (c.counted_at IS NULL
        OR (NOT c.is_recounted
            AND c.counted_at < now() - %(recount_seconds)s * interval '1 second'))
 ORDER BY c.subject_id, c.period, c.starts_on
   FOR NO KEY UPDATE;

-- name: count_spend
-- Add up what was spent and what is set aside under these counters, which are locked. What
-- they have counted themselves stays where it is more: some of it is stored as unknown. Messages of
-- unknown cost count by the default price, if one is stated.
UPDATE spend_counters c
   SET spent_micros = greatest(
           c.spent_micros,
           (SELECT coalesce(sum(coalesce(
                       m.cost_micros,
                       ((coalesce(m.input_tokens, 0) * %(input)s
                         + coalesce(m.output_tokens, 0) * %(output)s) / 1000000.0)::bigint,
                       0)), 0)::bigint
              FROM messages m
              JOIN chats o ON o.id = m.chat_id
             WHERE m.cost_source IS NOT NULL
               AND m.created_at >= c.starts_on::timestamp AT TIME ZONE 'UTC'
               AND m.created_at < (c.starts_on + ('1 ' || c.period)::interval) AT TIME ZONE 'UTC'
               AND (c.subject_id = {nil} OR o.owner_id = c.subject_id))
           + (SELECT coalesce(sum(d.micros), 0)::bigint
                FROM spend_days d
               WHERE d.day >= c.starts_on
                 AND d.day < c.starts_on + ('1 ' || c.period)::interval
                 AND (c.subject_id = {nil} OR d.user_id = c.subject_id))),
       reserved_micros = (
           SELECT coalesce(sum(r.micros), 0)::bigint
             FROM spend_reservations r
            WHERE r.day >= c.starts_on
              AND r.day < c.starts_on + ('1 ' || c.period)::interval
              AND (c.subject_id = {nil} OR r.user_id = c.subject_id)),
       is_recounted = c.counted_at IS NOT NULL,
       counted_at = now()
 WHERE (c.subject_id, c.period, c.starts_on)
    IN (SELECT * FROM unnest(%(subjects)s::uuid[], %(periods)s::text[], %(starts)s::date[]));

-- name: due_recounts
-- Counters that were added up a while ago for the first time. A process that had not heard of the
-- limit then may have had calls in flight that nothing was set aside for.
SELECT DISTINCT subject_id, starts_on
  FROM spend_counters
 WHERE NOT is_recounted
   AND counted_at < now() - %(recount_seconds)s * interval '1 second'
 LIMIT 100;

-- name: give_back_spend
-- Take back reservations that are still there. What was paid for counts as what was expected.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(%(ids)s::uuid[], %(spent)s::boolean[]) AS g(id, is_spent)
), locked AS (
    SELECT json_agg(json_build_object(
               'reservation', r.id, 'user_id', r.user_id, 'day', r.day,
               'micros', CASE WHEN g.is_spent THEN r.micros ELSE 0 END, 'expected', r.micros))
           AS paid
      FROM given g
      JOIN (SELECT * FROM spend_reservations
             WHERE id IN (SELECT id FROM given) ORDER BY id FOR UPDATE) AS r ON r.id = g.id
), {settled}
SELECT id FROM released;

-- name: sweep_spend
-- Take back reservations of processes that are gone, because their lease has run out or they have
-- left; and those that no call can need any more. Two sweeps at a time leave each other's alone.
WITH gone AS MATERIALIZED (
    SELECT r.*
      FROM spend_reservations r
     WHERE NOT EXISTS (SELECT FROM workers w
                        WHERE w.id = r.worker_id
                          AND w.heartbeat_at > now() - %(lease_seconds)s * interval '1 second')
        OR r.made_at < now() - %(age_seconds)s * interval '1 second'
     ORDER BY r.id
     LIMIT 1000
       FOR UPDATE OF r SKIP LOCKED
), locked AS (
    SELECT json_agg(json_build_object(
               'reservation', id, 'user_id', user_id, 'day', day, 'micros', 0, 'expected', 0))
           AS paid
      FROM gone
), {settled}
SELECT id FROM released;

-- name: forget_spend
-- Remove counters of periods that are long over.
DELETE FROM spend_counters WHERE starts_on < (now() AT TIME ZONE 'UTC')::date - 400;

-- name: agree_to_spend
-- Note that a person lets a family of chats go on beyond the soft limits that it has reached.
WITH asked AS MATERIALIZED (
    SELECT c.owner_id AS user_id, coalesce(c.root_id, c.id) AS root_id, {asked_times}
      FROM chats c
     WHERE c.id = %(chat)s
), {own_limits}
INSERT INTO spend_consents AS known (root_id, subject_id, period, starts_on, soft_micros)
SELECT a.root_id, l.subject_id, l.period, l.starts_on, l.soft_micros
  FROM asked a, limits l
  JOIN spend_counters c USING (subject_id, period, starts_on)
 WHERE c.spent_micros + c.reserved_micros >= l.soft_micros
ON CONFLICT (root_id, subject_id, period, starts_on) DO UPDATE
   SET soft_micros = greatest(known.soft_micros, excluded.soft_micros), given_at = now();

-- name: spend_status
-- The limits of a user and of the deployment, and what of them is used.
WITH asked AS MATERIALIZED (
    SELECT %(user)s::uuid AS user_id, {asked_times}
), {own_limits}
SELECT a.today, l.scope, l.name, l.period, l.starts_on, l.hard_micros, l.soft_micros,
       c.spent_micros, c.reserved_micros, c.counted_at IS NOT NULL
  FROM asked a
  LEFT JOIN limits l ON true
  LEFT JOIN spend_counters c
    ON (c.subject_id, c.period, c.starts_on) = (l.subject_id, l.period, l.starts_on)
 ORDER BY l.scope DESC, l.period;

-- name: spend_limits
-- All limits, with the name of the user or group whose each is.
SELECT l.scope, l.subject_id, l.period, l.hard_micros, l.soft_micros, l.group_id, l.created_at,
       l.updated_at,
       CASE l.scope WHEN 'user' THEN u.username
                    WHEN 'group' THEN coalesce(g.name, 'everyone') END
  FROM spend_limits l
  LEFT JOIN users u ON l.scope = 'user' AND u.id = l.subject_id
  LEFT JOIN groups g ON l.scope = 'group' AND g.id = l.subject_id
 WHERE u.deleted_at IS NULL
 ORDER BY l.scope, 9, l.period;

-- name: put_spend_limit
-- Set a limit.
INSERT INTO spend_limits (scope, subject_id, period, hard_micros, soft_micros, group_id)
VALUES (%(scope)s, %(subject)s, %(period)s, %(hard)s, %(soft)s, %(group)s)
ON CONFLICT (scope, subject_id, period) DO UPDATE
   SET hard_micros = excluded.hard_micros, soft_micros = excluded.soft_micros,
       group_id = excluded.group_id, updated_at = now();

-- name: remove_spend_limit
-- Remove a limit.
DELETE FROM spend_limits
 WHERE (scope, subject_id, period) = (%(scope)s, %(subject)s, %(period)s);

-- name: note_spend_limits
-- Tell all processes whether there is any limit: without one no call asks for money.
INSERT INTO settings (name, value)
SELECT 'spend_limited', to_json(EXISTS (SELECT FROM spend_limits))
ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now();

-- name: stale_counters
-- Have all counters added up anew before they are looked at. What they have counted stays.
UPDATE spend_counters SET counted_at = NULL, is_recounted = false
 WHERE (subject_id, period, starts_on) IN (
           SELECT subject_id, period, starts_on FROM spend_counters
            WHERE starts_on >= date_trunc('month', now() AT TIME ZONE 'UTC')::date
            ORDER BY subject_id, period, starts_on FOR NO KEY UPDATE);

-- name: examine_limits
-- How many limits there are, and those that are reached, with the user whose money is used up. Of
-- users those are looked at who have spent most.
WITH used AS MATERIALIZED (
    SELECT c.subject_id, c.period, c.spent_micros
      FROM spend_counters c
     WHERE (c.period, c.starts_on) IN (
               ('day', (now() AT TIME ZONE 'UTC')::date),
               ('month', date_trunc('month', now() AT TIME ZONE 'UTC')::date))
     ORDER BY c.spent_micros DESC
     LIMIT 1000
), reached AS (
    SELECT l.scope, u.username, c.period
      FROM used c
      LEFT JOIN users u ON u.id = c.subject_id
      JOIN LATERAL (
          SELECT l.scope, l.hard_micros
            FROM spend_limits l
           WHERE l.period = c.period
             AND CASE l.scope
                 WHEN 'deployment' THEN c.subject_id = {nil}
                 WHEN 'user' THEN l.subject_id = u.id
                 ELSE u.id IS NOT NULL
                      AND (l.subject_id = (SELECT organization_id FROM deployment)
                           OR l.subject_id IN (SELECT m.group_id FROM group_members m
                                                WHERE m.user_id = u.id)) END
           ORDER BY l.scope = 'user' DESC,
                    l.subject_id <> (SELECT organization_id FROM deployment) DESC,
                    l.hard_micros DESC NULLS FIRST,
                    l.soft_micros DESC NULLS FIRST
           LIMIT 1) AS l ON c.spent_micros >= l.hard_micros
)
SELECT n.count, r.scope, r.username, r.period
  FROM (SELECT count(*) FROM spend_limits) AS n
  LEFT JOIN reached r ON true
 ORDER BY r.scope, r.username, r.period;

-- name: examine_prices
-- The prices that administrators have stated.
SELECT name, value FROM settings WHERE name = ANY(%(names)s::text[]);

-- name: examine_models
-- The stored models that users can ask.
SELECT p.type, m.model
  FROM model_configs m
  JOIN ai_providers p ON p.id = m.provider_id
 WHERE m.deleted_at IS NULL AND m.enabled AND p.deleted_at IS NULL AND p.enabled;
