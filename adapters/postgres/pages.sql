-- What users see of a history: not what is deleted, a system's, or only for the model.

-- part: shown
-- Whether a message is shown to users.
NOT deleted AND visibility <> 'model' AND role <> 'system'

-- column: ShownRow.edited
-- Whether it took the place of another: what an edit deletes has the revision of what it adds.
role = 'user' AND EXISTS (
    SELECT FROM messages gone
     WHERE gone.chat_id = messages.chat_id
       AND gone.revision = messages.revision
       AND gone.deleted)

-- name: history_version
-- The version of the history that a page is read of.
SELECT history_version FROM chats WHERE id = %(chat)s;

-- name: page_backward
-- The newest messages between two others.
SELECT {ShownRow}
  FROM messages
 WHERE chat_id = %(chat)s AND id < %(before)s AND id > %(after)s AND {shown}
 ORDER BY id DESC
 LIMIT %(limit)s;

-- name: page_forward
-- The oldest messages behind another.
SELECT {ShownRow}
  FROM messages
 WHERE chat_id = %(chat)s AND id > %(after)s AND {shown}
 ORDER BY id
 LIMIT %(limit)s;

-- name: some_messages
-- Those of `wanted` that still stand.
SELECT {ShownRow}
  FROM messages
 WHERE chat_id = %(chat)s AND id = ANY(%(wanted)s) AND {shown}
 ORDER BY id;

-- name: prompts
-- What users said in words, the newest first.
SELECT id, content, content_version
  FROM messages
 WHERE chat_id = %(chat)s
   AND role = 'user'
   AND {shown}
   AND EXISTS (SELECT FROM json_array_elements(content) AS part
                WHERE part ->> 'type' = 'text' AND part ->> 'text' ~ '\S')
 ORDER BY id DESC
 LIMIT %(limit)s;

-- name: model_of_message
-- Which model and effort a message names, if it stands in this chat.
SELECT model_config_id, reasoning_effort
  FROM messages
 WHERE chat_id = %(chat)s AND id = %(message)s AND NOT deleted;
