-- Which local tool calls have begun, and what came of them.

-- name: begin_calls
-- Note that these begin now. What had begun before is left as it is; that is what is returned.
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest(%(ids)s::text[], %(names)s::text[]) AS w(tool_call_id, name)
), known AS MATERIALIZED (
    SELECT t.tool_call_id, t.begun_at, t.output, t.ended_at
      FROM tool_calls t
      JOIN wanted USING (tool_call_id)
     WHERE t.chat_id = %(chat)s AND t.history_version = %(history_version)s
), begun AS (
    INSERT INTO tool_calls (chat_id, history_version, tool_call_id, name)
    SELECT %(chat)s, %(history_version)s, tool_call_id, name FROM wanted
    ON CONFLICT DO NOTHING
)
SELECT tool_call_id, begun_at, output, ended_at FROM known;

-- name: end_call
-- Note what came of a call; the first word stands.
UPDATE tool_calls
   SET output = %(output)s, ended_at = now()
 WHERE chat_id = %(chat)s
   AND history_version = %(history_version)s
   AND tool_call_id = %(id)s
   AND ended_at IS NULL;

-- name: forget_calls
-- Drop entries of steps that were committed long ago.
DELETE FROM tool_calls WHERE begun_at < now() - %(keep_seconds)s * interval '1 second';
