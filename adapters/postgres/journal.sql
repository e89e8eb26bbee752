-- Which local tool calls have begun, and what came of them.

-- part: entry
-- What had begun before, as the journal reads it.
tool_call_id, begun_at, output, ended_at, extract(epoch FROM now() - begun_at)::float8

-- name: begin_calls
-- Note that these begin now. What had begun before is left as it is; that is what is returned,
-- also where another process begins it at this very moment: a conflict makes us wait for it and
-- see its row. A row that we inserted has no xmax; one that we met is locked, and has ours.
WITH wanted AS (
    SELECT DISTINCT ON (tool_call_id) *
      FROM unnest(%(ids)s::text[], %(names)s::text[]) AS w(tool_call_id, name)
     ORDER BY tool_call_id
), begun AS (
    INSERT INTO tool_calls AS t (chat_id, history_version, tool_call_id, name)
    SELECT %(chat)s, %(history_version)s, tool_call_id, name FROM wanted
    ON CONFLICT (chat_id, history_version, tool_call_id) DO UPDATE SET name = t.name
    RETURNING t.tool_call_id, t.begun_at, t.output, t.ended_at, t.xmax <> 0 AS was_known
)
SELECT {entry} FROM begun WHERE was_known;

-- name: look_at_calls
-- What had begun of these before.
SELECT {entry}
  FROM tool_calls
 WHERE chat_id = %(chat)s
   AND history_version = %(history_version)s
   AND tool_call_id = ANY(%(ids)s::text[]);

-- name: end_calls
-- Note what came of calls; the first word on each stands. Another process may note the same calls,
-- so they are locked in one order.
WITH locked AS MATERIALIZED (
    SELECT t.chat_id, t.history_version, t.tool_call_id, w.output
      FROM json_to_recordset(%(ended)s) AS w(
               chat uuid, history_version bigint, id text, output json)
      JOIN tool_calls t
        ON t.chat_id = w.chat AND t.history_version = w.history_version AND t.tool_call_id = w.id
     WHERE t.ended_at IS NULL
     ORDER BY t.chat_id, t.history_version, t.tool_call_id
       FOR NO KEY UPDATE OF t
)
UPDATE tool_calls t
   SET output = l.output, ended_at = now()
  FROM locked l
 WHERE t.chat_id = l.chat_id
   AND t.history_version = l.history_version
   AND t.tool_call_id = l.tool_call_id;

-- part: old_call
-- A call `t` of a step that was committed long ago, of a chat that is not on hold.
  FROM tool_calls t JOIN chats c ON c.id = t.chat_id
 WHERE t.begun_at < now() - %(seconds)s::float8 * interval '1 second'
   AND NOT {chat_on_hold}

-- name: forget_calls
-- Drop entries of steps that were committed long ago. One that is written meanwhile stays.
WITH gone AS (
    DELETE FROM tool_calls WHERE ctid = ANY(ARRAY(SELECT t.ctid {old_call} LIMIT %(most)s))
    RETURNING 1
)
SELECT count(*), 0::bigint FROM gone;

-- name: count_old_calls
-- How many of them there are.
SELECT count(*) {old_call};
