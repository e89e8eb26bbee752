-- Runs and steps of recorded model calls.

-- name: begin_debug_run
-- A run begins with its first step. One that was taken for interrupted, because the process that
-- recorded it has gone, goes on. Nothing is written for a chat that is archived, nor for a message
-- that an edit has removed.
INSERT INTO debug_runs AS known (
    id, chat_id, root_chat_id, parent_chat_id, model_config_id, trigger_message_id,
    history_tip_message_id, kind, provider, model, first_message
)
SELECT %(id)s, c.id, %(root_chat_id)s, %(parent_chat_id)s, %(model_config_id)s, prompt.id,
       coalesce(%(history_tip_message_id)s, prompt.id), %(kind)s, %(provider)s, %(model)s,
       %(first_message)s
  FROM chats c
  LEFT JOIN LATERAL (
      SELECT m.id
        FROM messages m
       WHERE m.chat_id = c.id AND m.role = 'user' AND m.visibility <> 'model'
         AND NOT m.deleted AND NOT m.compressed
         AND m.id = coalesce(%(trigger_message_id)s::bigint, m.id)
       ORDER BY m.id DESC
       LIMIT 1
  ) prompt ON true
 WHERE c.id = %(chat_id)s AND NOT c.archived
   AND (%(trigger_message_id)s::bigint IS NULL OR prompt.id IS NOT NULL)
ON CONFLICT (id) DO UPDATE
   SET updated_at = now(),
       status = CASE known.status WHEN 'interrupted' THEN 'in_progress' ELSE known.status END,
       finished_at = CASE known.status WHEN 'interrupted' THEN NULL ELSE known.finished_at END;

-- name: begin_debug_step
-- A step of a run that is there. Another attempt at the same step goes on with its row.
INSERT INTO debug_steps AS known (
    id, run_id, chat_id, step_number, operation, history_tip_message_id, normalized_request
)
SELECT %(step)s, r.id, r.chat_id,
       coalesce((SELECT max(s.step_number) FROM debug_steps s WHERE s.run_id = r.id), 0) + 1,
       %(operation)s, coalesce(%(tip)s, r.history_tip_message_id), %(request)s
  FROM debug_runs r
 WHERE r.id = %(run)s
ON CONFLICT (id) DO UPDATE
   SET status = 'in_progress', updated_at = now(), finished_at = NULL
RETURNING id;

-- name: end_debug_step
-- The exchanges of this attempt come behind those of earlier ones.
WITH ended AS (
    UPDATE debug_steps s
       SET status = %(status)s,
           normalized_response = coalesce(%(response)s::json, s.normalized_response),
           usage = coalesce(%(usage)s::jsonb, s.usage),
           error = %(error)s::json,
           metadata = s.metadata || %(metadata)s::jsonb,
           endpoint = coalesce(s.endpoint, %(endpoint)s),
           attempts = (
               SELECT coalesce(jsonb_agg(kept.attempt ORDER BY kept.place), '[]')
                 FROM (
                     SELECT both_of.attempt, both_of.place
                       FROM jsonb_array_elements(s.attempts || %(attempts)s::jsonb)
                            WITH ORDINALITY AS both_of (attempt, place)
                      ORDER BY both_of.place DESC
                      LIMIT %(attempts_max)s
                 ) kept
           ),
           updated_at = now(),
           finished_at = now()
     WHERE s.id = %(step)s
    RETURNING s.run_id
)
UPDATE debug_runs r SET updated_at = now() FROM ended WHERE r.id = ended.run_id;

-- name: answer_debug_step
-- The message that the answer became is known once it is committed.
UPDATE debug_steps SET assistant_message_id = %(message)s WHERE id = %(step)s;

-- name: end_debug_run
-- Of several ends the best stays: completed, then error, then interrupted.
UPDATE debug_runs
   SET status = %(status)s, updated_at = now(), finished_at = now()
 WHERE id = %(run)s
   AND array_position(ARRAY['in_progress', 'interrupted', 'error', 'completed'], status)
     < array_position(ARRAY['in_progress', 'interrupted', 'error', 'completed'], %(status)s::text);

-- name: beat_debug_runs
-- Only runs whose chat is still at work in this process stay alive.
UPDATE debug_runs r
   SET updated_at = now()
  FROM chats c
 WHERE r.id = ANY(%(runs)s::uuid[]) AND c.id = r.chat_id AND c.worker_id = %(worker)s
   AND r.status = 'in_progress'
RETURNING r.id;

-- name: finish_stale_debug_runs
-- What the death of a process has left open. The rows are few: the index holds open ones alone.
WITH stale AS (
    UPDATE debug_runs
       SET status = 'interrupted', finished_at = now()
     WHERE status = 'in_progress'
       AND updated_at < now() - make_interval(secs => %(stale_seconds)s)
    RETURNING id
), steps AS (
    UPDATE debug_steps s
       SET status = 'interrupted', updated_at = now(), finished_at = now()
      FROM stale
     WHERE s.run_id = stale.id AND s.status = 'in_progress'
)
SELECT id FROM stale;

-- name: forget_debug_runs_after
-- An edit takes the answers to the edited message, and all that followed, out of the history. On
-- legal hold they stay.
DELETE FROM debug_runs r
 USING chats c
 WHERE c.id = r.chat_id AND r.chat_id = %(chat)s AND r.trigger_message_id >= %(message)s
   AND NOT {chat_on_hold};

-- name: forget_debug_runs_of_family
-- An archived chat keeps no records, nor do its agents, unless they are on legal hold.
DELETE FROM debug_runs r
 USING chats c
 WHERE c.id = r.chat_id AND (c.id = %(root)s OR c.root_id = %(root)s) AND NOT {chat_on_hold};

-- part: old_debug_run
-- A run `r` that is older than it may become, of a chat `c` that is not on hold.
  FROM debug_runs r
  JOIN chats c ON c.id = r.chat_id
 WHERE r.started_at < now() - %(seconds)s::float8 * interval '1 second'
   AND NOT {chat_on_hold}

-- name: delete_old_debug_runs
-- Delete old runs; their steps go with them, and are what takes room.
WITH old AS MATERIALIZED (
    SELECT r.id {old_debug_run} ORDER BY r.started_at LIMIT %(most)s FOR UPDATE OF r SKIP LOCKED
), sizes AS (
    SELECT coalesce(sum(pg_column_size(s.normalized_request) + pg_column_size(s.attempts)), 0)
           ::bigint AS bytes
      FROM debug_steps s
     WHERE s.run_id IN (SELECT id FROM old)
), gone AS (
    DELETE FROM debug_runs r USING old WHERE r.id = old.id RETURNING 1
)
SELECT (SELECT count(*) FROM gone), bytes FROM sizes;

-- name: count_old_debug_runs
-- How many of them there are.
SELECT count(*) {old_debug_run};

-- part: sums_of_debug_steps
-- What lists say of the steps of a run, without reading what was recorded of each.
LEFT JOIN LATERAL (
    SELECT count(*) AS step_count,
           coalesce(sum((s.usage->>'input_tokens')::bigint), 0)::bigint AS input_tokens,
           coalesce(sum((s.usage->>'output_tokens')::bigint), 0)::bigint AS output_tokens,
           sum((s.usage->>'reasoning_tokens')::bigint)::bigint AS reasoning_tokens,
           sum((s.usage->>'cache_creation_tokens')::bigint)::bigint AS cache_creation_tokens,
           sum((s.usage->>'cache_read_tokens')::bigint)::bigint AS cache_read_tokens,
           (array_agg(s.endpoint ORDER BY s.step_number) FILTER (WHERE s.endpoint IS NOT NULL))[1]
               AS endpoint
      FROM debug_steps s
     WHERE s.run_id = r.id
) sums ON true

-- name: debug_runs_of_chat
-- The newest runs of a chat.
SELECT {RunRow}
  FROM debug_runs r
  {sums_of_debug_steps}
 WHERE r.chat_id = %(chat)s
 ORDER BY r.started_at DESC, r.id
 LIMIT %(shown)s;

-- name: debug_run
-- One run, if it is of this chat.
SELECT {RunRow} FROM debug_runs r {sums_of_debug_steps} WHERE r.id = %(run)s AND r.chat_id = %(chat)s;

-- name: debug_steps
-- The steps of a run in their order.
SELECT {StepRow}
  FROM debug_steps
 WHERE run_id = %(run)s AND chat_id = %(chat)s
 ORDER BY step_number;
