-- The outbox: deliveries to webhooks and devices.

-- name: claim_deliveries
-- Claim what is due: of each receiver the oldest few, of receivers that are busy or switched off none.
-- A claim moves the delivery's time on, so that it is due again if its claimer dies. It says whether
-- the user of the receiver is let in, and may still see a chat that was shared with them: what
-- happens is not told outside otherwise.
WITH receivers AS MATERIALIZED (
    SELECT DISTINCT d.target_id
      FROM deliveries d
     WHERE d.state = 'waiting' AND d.due_at <= now() AND d.target_id <> ALL (%(busy)s::uuid[])
     LIMIT %(count)s
), due AS MATERIALIZED (
    SELECT o.id
      FROM receivers r,
           LATERAL (SELECT d.id
                      FROM deliveries d
                     WHERE d.target_id = r.target_id AND d.state = 'waiting' AND d.due_at <= now()
                     ORDER BY d.due_at, d.created_at
                     LIMIT %(of_target)s
                       FOR UPDATE SKIP LOCKED) AS o
     LIMIT %(count)s
), claimed AS (
    UPDATE deliveries d
       SET due_at = now() + %(claim_seconds)s * interval '1 second',
           claims_count = d.claims_count + 1,
           attempts_count = d.attempts_count + 1
      FROM due
     WHERE d.id = due.id
    RETURNING d.*
)
SELECT c.id, c.target, c.target_id, c.event_id, c.kind, c.user_id, c.chat_id, c.root_id, c.title,
       c.detail, c.created_at, c.attempts_count, c.claims_count,
       coalesce(w.url, s.endpoint),
       coalesce(w.secret, s.keys),
       CASE WHEN w.former_until > now() THEN w.former_secret END,
       coalesce(s.watching_until > now()
                AND s.watching_chat IN (c.chat_id, c.root_id), false),
       coalesce(u.status = 'suspended' OR u.deleted_at IS NOT NULL
                OR c.kind = 'shared' AND u.id IS NOT NULL AND NOT EXISTS (
                    SELECT FROM chat_readers r
                     WHERE r.chat_id = c.root_id AND (r.is_group OR r.subject_id = u.id)), false)
  FROM claimed c
  LEFT JOIN webhooks w
    ON c.target = 'webhook' AND w.id = c.target_id AND w.disabled_at IS NULL
  LEFT JOIN push_subscriptions s ON c.target = 'push' AND s.id = c.target_id
  LEFT JOIN users u ON u.id = coalesce(w.owner_id, s.user_id)
 ORDER BY c.created_at, c.id;

-- name: next_delivery
-- In how many seconds the next is due; of receivers that are not busy.
SELECT extract(epoch FROM min(due_at) - now())::double precision
  FROM deliveries
 WHERE state = 'waiting' AND target_id <> ALL (%(busy)s::uuid[]);

-- name: settle_delivery
-- Note what came of a claim, and what it says of its receiver: one that is gone goes, and a webhook
-- that has failed for too long, or says that it is gone, is switched off, and its owner is told.
WITH settled AS (
    UPDATE deliveries
       SET state = %(state)s,
           due_at = now() + %(due_seconds)s * interval '1 second',
           last_status = %(status)s,
           last_error = %(error)s,
           finished_at = CASE WHEN %(state)s <> 'waiting' THEN now() END
     WHERE id = %(id)s AND claims_count = %(claims_count)s AND state = 'waiting'
    RETURNING target, target_id
), gone AS (
    DELETE FROM push_subscriptions s USING settled d
     WHERE d.target = 'push' AND s.id = d.target_id AND %(is_gone)s
), hook AS (
    UPDATE webhooks w
       SET failing_since = CASE WHEN %(has_failed)s THEN coalesce(w.failing_since, now()) END,
           disabled_at = CASE WHEN %(is_gone)s OR {has_failed_long} THEN now() END,
           disabled_why = CASE WHEN %(is_gone)s THEN %(error)s
                               WHEN {has_failed_long}
                               THEN 'no attempt was answered well for days' ELSE '' END
      FROM settled d
     WHERE d.target = 'webhook' AND w.id = d.target_id AND w.disabled_at IS NULL
       AND (%(has_failed)s OR w.failing_since IS NOT NULL)
       AND %(state)s <> 'left_out'
    RETURNING w.*
), given_up AS (
    UPDATE deliveries o
       SET state = 'failed', finished_at = now(), last_error = 'its webhook was switched off'
     WHERE o.id IN (SELECT x.id FROM hook h JOIN deliveries x ON x.target_id = h.id
                     WHERE h.disabled_at IS NOT NULL AND x.state = 'waiting' AND x.id <> %(id)s
                       FOR UPDATE OF x SKIP LOCKED)
)
SELECT d.target,
       (SELECT count(file_event(u.id, 'webhook_disabled', NULL,
                                concat('webhook/', h.id, ' ', h.disabled_at),
                                json_build_object('url', h.url, 'why', h.disabled_why)))
          FROM hook h
          JOIN users u ON u.id = h.owner_id
                       OR h.owner_id IS NULL AND u.roles @> ARRAY['owner'] AND u.deleted_at IS NULL
         WHERE h.disabled_at IS NOT NULL)
  FROM settled d;

-- part: has_failed_long
-- The webhook has not been answered well for as long as one may be.
(%(has_failed)s AND w.failing_since < now() - %(disabled_after_seconds)s * interval '1 second')

-- name: forget_deliveries
-- Those that were done with long ago, and those of receivers that are gone.
DELETE FROM deliveries
 WHERE id IN (
    SELECT d.id
      FROM deliveries d
     WHERE d.finished_at < now() - %(kept_days)s * interval '1 day'
        OR d.created_at < now() - %(kept_days)s * interval '1 day'
       AND NOT EXISTS (SELECT FROM webhooks w WHERE w.id = d.target_id)
     LIMIT %(count)s
       FOR UPDATE SKIP LOCKED)
RETURNING 1;

-- name: drop_surplus_deliveries
-- Of a receiver for which too many wait the oldest are given up: it will not catch up with them.
UPDATE deliveries
   SET state = 'failed', finished_at = now(), last_error = 'too many waited behind it'
 WHERE id IN (
    SELECT k.id
      FROM (SELECT DISTINCT target_id FROM deliveries WHERE state = 'waiting') AS r,
           LATERAL (SELECT d.id FROM deliveries d
                     WHERE d.target_id = r.target_id AND d.state = 'waiting'
                     ORDER BY d.created_at DESC, d.id DESC
                    OFFSET %(waiting_max)s LIMIT %(count)s) AS k)
   AND state = 'waiting'
RETURNING 1;

-- name: examine_notices
-- What doctor looks at: how many browsers are pushed to, whether there is a key pair to do it with,
-- how many deliveries wait, and for how long the oldest of them has been due.
SELECT (SELECT count(*) FROM push_subscriptions), EXISTS (SELECT FROM push_keys),
       count(*), coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8
  FROM deliveries WHERE state = 'waiting';

-- name: failing_webhooks
-- Those of which no attempt is answered well, the longest first.
SELECT w.url, coalesce(u.username, ''), extract(epoch FROM now() - w.failing_since)::float8,
       count(*) OVER ()
  FROM webhooks w LEFT JOIN users u ON u.id = w.owner_id
 WHERE w.disabled_at IS NULL AND w.failing_since < now() - %(seconds)s * interval '1 second'
 ORDER BY w.failing_since LIMIT %(most)s;
