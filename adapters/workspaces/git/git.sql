-- What tool calls have touched in the workspaces of chats, read from what is said in them.

-- name: watched_families
-- The watched chats, each with itself and all that were spawned from it.
WITH RECURSIVE family AS (
    SELECT c.id AS watched, c.id, c.owner_id FROM chats c WHERE c.id = ANY(%(chats)s)
     UNION
    SELECT family.watched, c.id, c.owner_id FROM family JOIN chats c ON c.parent_id = family.id
)
SELECT watched, id, owner_id FROM family LIMIT %(most)s;

-- name: calls_of_chats
-- The newest calls of tools, and their results, behind the message of each chat that was read last.
-- What has no such shape gives null.
SELECT m.chat_id, m.id, part->>'type' = 'tool-result', part->>'tool_name',
       part->'args'->>'path', part->'args'->>'workdir',
       CASE WHEN json_typeof(part->'args'->'files') = 'array'
            THEN (SELECT json_agg(file->'path') FROM json_array_elements(part->'args'->'files') file)
       END
  FROM unnest(%(chats)s::uuid[], %(after)s::bigint[]) AS w(chat, after)
  JOIN messages m ON m.chat_id = w.chat AND m.id > w.after
                 AND m.role IN ('assistant', 'tool') AND m.content_version = 1
 CROSS JOIN LATERAL json_array_elements(m.content) part
 WHERE part->>'type' IN ('tool-call', 'tool-result')
 ORDER BY m.id DESC
 LIMIT %(most)s;
