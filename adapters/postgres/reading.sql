-- What holds. Statements of one answer are sent together and see one snapshot.

-- name: chat
-- The chat as it is.
SELECT {ChatRow} FROM chats WHERE id = %(chat)s;

-- name: linked_files
-- Which files belong to the chat.
SELECT file_id, true FROM chat_files WHERE chat_id = %(chat)s;

-- name: history
-- All that is said and still stands.
SELECT {MessageRow} FROM messages WHERE chat_id = %(chat)s AND NOT deleted ORDER BY id;

-- name: dynamic_tools
-- The tools that the chat's client executes, as they were declared.
SELECT dynamic_tools FROM chats WHERE id = %(chat)s;
