-- What holds. Statements of one answer are sent together and see one snapshot.

-- part: message_row
-- A message as rows.message_of reads it.
id, revision, created_at, deleted, role, content, content_version, visibility, compressed,
created_by, model_config_id, reasoning_effort, context_limit, runtime_ms, cost_micros,
cost_source, input_tokens,
output_tokens, total_tokens, reasoning_tokens, cache_creation_tokens, cache_read_tokens

-- name: chat
-- The chat as it is.
SELECT {chat_row} FROM chats WHERE id = %(chat)s;

-- name: linked_files
-- Which files belong to the chat.
SELECT file_id, true FROM chat_files WHERE chat_id = %(chat)s;

-- name: history
-- All that is said and still stands.
SELECT {message_row} FROM messages WHERE chat_id = %(chat)s AND NOT deleted ORDER BY id;

-- name: dynamic_tools
-- The tools that the chat's client executes, as they were declared.
SELECT dynamic_tools FROM chats WHERE id = %(chat)s;
