-- Who is at work. One row per process; its heartbeat is the lease on every chat it holds.

-- name: beat
-- Hold on. The first beat makes the row; `expired` tells that others may have taken chats since.
-- Who is gone did not leave in good order.
WITH former AS (
    SELECT heartbeat_at FROM workers WHERE id = %(worker)s
), beaten AS (
    INSERT INTO workers (id, url)
    VALUES (%(worker)s, %(url)s)
    ON CONFLICT (id) DO UPDATE SET heartbeat_at = now(), url = excluded.url
)
SELECT now(), EXISTS (SELECT FROM former
                       WHERE heartbeat_at <= now() - %(lease_seconds)s * interval '1 second'),
       ARRAY(SELECT id FROM workers
              WHERE heartbeat_at <= now() - %(lease_seconds)s * interval '1 second'
                AND id <> %(worker)s);

-- name: leave
-- Let go of everything: a chat whose holder has no row may be taken at once.
DELETE FROM workers WHERE id = %(worker)s;

-- name: sweep
-- Forget workers that have been gone for a while; their chats are free since their lease ran out.
-- Of one whose chats were not taken yet, it has to be known that it did not leave in good order.
DELETE FROM workers w
 WHERE heartbeat_at < now() - %(forget_seconds)s * interval '1 second'
   AND NOT EXISTS (SELECT FROM chats c
                    WHERE c.worker_id = w.id
                      AND c.status IN ('running', 'interrupting', 'requires_action')
                      AND NOT c.archived)
RETURNING id;

-- column: AcquiredRow.queue
-- The queue of chat `t`, as one value.
(SELECT json_agg(json_build_array({q.QueuedRow}) ORDER BY q.position, q.id)
   FROM queued_messages q
  WHERE q.chat_id = t.id)

-- column: AcquiredRow.tail
-- The last assistant message of chat `t` and the tool messages after it, as one value.
(SELECT json_agg(json_build_array({m.TailRow}) ORDER BY m.id)
   FROM messages m
  WHERE m.chat_id = t.id
    AND NOT m.deleted
    AND m.role IN ('assistant', 'tool')
    AND m.id >= (SELECT a.id
                   FROM messages a
                  WHERE a.chat_id = t.id AND NOT a.deleted AND a.role = 'assistant'
                  ORDER BY a.id DESC
                  LIMIT 1))

-- column: AcquiredRow.files
-- The files of chat `t`, as one value.
(SELECT array_agg(f.file_id) FROM chat_files f WHERE f.chat_id = t.id)

-- name: acquire
-- Take chats that have work to do and no process that does it: what is to be ended first, then what may
-- begin, roots and children in turns, whoever has waited longest first. Of each kind no more is
-- looked at than there is room for, so a full one hides no other. A chat that has moved on since
-- it was looked at, or is locked, is left to the faster one. A worker whose own lease has run
-- out takes nothing. Free chats are found by their index, and those of a worker that is gone by
-- one look at the index for each worker there is, however many chats it holds. What is written is
-- the law's Acquire and, where work begins at once, its RecordGenerationAttempt; a pause before an
-- attempt is not cut short by a new holder. A worker that leaves in good order takes its row with it:
-- one that has a row and is not fresh has died, or it has lost its lease, in the midst of its work.
-- Who has lost a lease too does not count deaths: the others may be about to return.
WITH RECURSIVE fresh AS MATERIALIZED (
    SELECT id FROM workers WHERE heartbeat_at > now() - %(lease_seconds)s * interval '1 second'
), holders AS (
    (SELECT worker_id FROM chats WHERE worker_id IS NOT NULL ORDER BY worker_id LIMIT 1)
    UNION ALL
    SELECT (SELECT c.worker_id FROM chats c WHERE c.worker_id > h.worker_id
             ORDER BY c.worker_id LIMIT 1)
      FROM holders h
     WHERE h.worker_id IS NOT NULL
), waiting AS (
    SELECT id, snapshot_version, status, parent_id IS NULL AS is_root, updated_at
      FROM chats
     WHERE worker_id IS NULL
       AND status IN ('running', 'interrupting', 'requires_action')
       AND NOT archived
    UNION ALL
    SELECT c.*
      FROM (SELECT worker_id FROM holders WHERE worker_id IS NOT NULL
            EXCEPT SELECT id FROM fresh) AS gone,
           LATERAL (SELECT id, snapshot_version, status, parent_id IS NULL, updated_at
                      FROM chats
                     WHERE worker_id = gone.worker_id
                       AND status IN ('running', 'interrupting', 'requires_action')
                       AND NOT archived
                    OFFSET 0) AS c -- by itself: nothing is read while no worker is gone
), numbered AS (
    SELECT *, row_number() OVER (PARTITION BY status, is_root ORDER BY updated_at, id) AS place
      FROM waiting
     WHERE EXISTS (SELECT FROM fresh WHERE id = %(worker)s)
), candidates AS MATERIALIZED (
    SELECT id,
           snapshot_version,
           row_number() OVER (
               ORDER BY array_position(ARRAY['interrupting', 'requires_action', 'running'], status),
                        place, is_root DESC, id) AS place
      FROM numbered
     WHERE place <= 2 * %(at_most)s -- some may be locked, or have moved on
       AND (status <> 'running' OR place <= CASE WHEN is_root THEN %(roots)s::bigint
                                                 ELSE %(children)s::bigint END)
), locked AS MATERIALIZED (
    SELECT c.id, w.place
      FROM candidates w
      JOIN chats c ON c.id = w.id AND c.snapshot_version = w.snapshot_version
     WHERE c.id = ANY(ARRAY(SELECT id FROM candidates)) -- few; a plan that expects many reads all
     ORDER BY w.place
     LIMIT %(at_most)s
       FOR NO KEY UPDATE OF c SKIP LOCKED
), taken AS (
    UPDATE chats c
       SET updated_at = now(),
           worker_id = %(worker)s,
           runner_id = gen_random_uuid(),
           snapshot_version = c.snapshot_version + 1,
           generation_attempt = c.generation_attempt
                              + (c.status = 'running' AND c.retry_state IS NULL)::integer,
           process_deaths_count = c.process_deaths_count
                                + (%(count_deaths)s::boolean
                                   AND c.status = 'running' AND c.retry_state IS NULL
                                   AND EXISTS (SELECT FROM workers w
                                                WHERE w.id = c.worker_id))::integer
      FROM locked l
     WHERE c.id = l.id
    RETURNING c.*, l.place
)
SELECT {AcquiredRow}
  FROM taken t
 ORDER BY place;

-- name: held
-- Where the chats stand that a worker holds.
SELECT {HeldRow}
  FROM chats
 WHERE worker_id = %(worker)s;
