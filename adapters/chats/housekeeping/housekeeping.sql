-- Housekeeping: the lease on it, and rules that need no more than a statement.

-- part: user_on_hold
-- Whether user `u` is on legal hold.
EXISTS (SELECT FROM legal_holds h WHERE h.user_id = u.id)

-- part: chat_on_hold
-- Whether the family of chat `c`, or its owner, is on legal hold.
EXISTS (SELECT FROM legal_holds h
         WHERE h.root_id = coalesce(c.root_id, c.id) OR h.user_id = c.owner_id)

-- name: take_housekeeping
-- Take the lease if it is free, or was not beaten for so long, and the last pass ended so long ago.
INSERT INTO housekeeping AS k (holder, epoch) VALUES (%(holder)s, 1)
    ON CONFLICT (is_one) DO UPDATE
   SET holder = excluded.holder, epoch = k.epoch + 1, beat_at = now()
 WHERE (k.holder IS NULL OR k.beat_at < now() - %(lease_seconds)s::float8 * interval '1 second')
   AND (k.ended_at IS NULL OR k.ended_at <= now() - %(rest_seconds)s::float8 * interval '1 second')
RETURNING k.epoch;

-- name: hold_housekeeping
-- Beat, if the lease is still this holder's, and keep others from taking it for this transaction.
-- Returns what a setting says; null: it is not set.
UPDATE housekeeping SET beat_at = now()
 WHERE holder = %(holder)s AND epoch = %(epoch)s
RETURNING (SELECT s.value::text FROM settings s WHERE s.name = %(setting)s);

-- name: leave_housekeeping
-- Let go of the lease; with a report the pass has ended.
UPDATE housekeeping
   SET holder = NULL,
       ended_at = CASE WHEN %(report)s::json IS NULL THEN ended_at ELSE now() END,
       report = coalesce(%(report)s::json, report)
 WHERE holder = %(holder)s AND epoch = %(epoch)s;

-- name: chats_are_at_work
-- Whether any process has a chat at work. The index on holders answers.
SELECT EXISTS (SELECT FROM chats WHERE worker_id IS NOT NULL);

-- name: housekeeping_setting
-- What a setting of the deployment says; no row: it is not set.
SELECT value::text FROM settings WHERE name = %(setting)s;

-- part: orphan
-- A file `f` that no chat has, older than it may become, of a user `u` who is not on hold.
  FROM files f
  JOIN users u ON u.id = f.owner_id
 WHERE f.created_at < now() - %(seconds)s::float8 * interval '1 second'
   AND NOT EXISTS (SELECT FROM chat_files l WHERE l.file_id = f.id)
   AND NOT {user_on_hold}

-- name: delete_orphan_files
-- Delete files that no chat has. One that a chat takes at this moment is left to it.
WITH old AS MATERIALIZED (
    SELECT f.id {orphan} ORDER BY f.created_at LIMIT %(most)s FOR UPDATE OF f SKIP LOCKED
), gone AS (
    DELETE FROM files f USING old
     WHERE f.id = old.id AND NOT EXISTS (SELECT FROM chat_files l WHERE l.file_id = f.id)
    RETURNING f.size_bytes
)
SELECT count(*), coalesce(sum(size_bytes), 0)::bigint FROM gone;

-- name: count_orphan_files
-- How many of them there are.
SELECT count(*) {orphan};

-- name: delete_old_erasures
-- Forget receipts of erasures that ended long ago.
WITH gone AS (
    DELETE FROM erasures WHERE id IN (
        SELECT id FROM erasures
         WHERE begun_at < now() - %(seconds)s::float8 * interval '1 second'
           AND ended_at IS NOT NULL
         ORDER BY begun_at LIMIT %(most)s)
    RETURNING 1
)
SELECT count(*), 0::bigint FROM gone;

-- name: count_old_erasures
-- How many of them there are.
SELECT count(*) FROM erasures
 WHERE begun_at < now() - %(seconds)s::float8 * interval '1 second' AND ended_at IS NOT NULL;

-- name: housekeeping_status
-- How the last pass went, whether one runs, and what is set; null: it is not set.
SELECT k.holder IS NOT NULL
       AND k.beat_at > now() - %(lease_seconds)s::float8 * interval '1 second',
       k.ended_at, k.report, k.upgraded_at,
       EXISTS (SELECT FROM settings s
                WHERE s.name IN ('retention_days', 'debug_retention_days')
                  AND s.updated_at = k.upgraded_at),
       k.former::text,
       extract(epoch FROM now() - k.ended_at)::float8
  FROM housekeeping k;

-- name: examine_retention
-- What doctor looks at: whether an upgrade keeps everything, what had been set before it, what is
-- set, how long no pass has ended, how many families are being erased, and by which rules nothing
-- goes.
SELECT EXISTS (SELECT FROM settings s
                WHERE s.name = 'retention_days' AND s.updated_at = k.upgraded_at),
       (SELECT string_agg(f.key || ' ' || f.value, ', ') FROM json_each_text(k.former) AS f),
       (SELECT s.value::text FROM settings s WHERE s.name = 'retention_days'),
       extract(epoch FROM now() - k.ended_at)::float8,
       (SELECT count(*) FROM erasures WHERE ended_at IS NULL AND root_id IS NOT NULL),
       ARRAY(SELECT r.name
               FROM unnest(%(rules)s::text[], %(defaults)s::text[]) WITH ORDINALITY
                    AS r(name, days, place)
               LEFT JOIN settings s ON s.name = r.name
              WHERE coalesce(s.value::text, r.days) = '0' ORDER BY r.place)
  FROM housekeeping k;
