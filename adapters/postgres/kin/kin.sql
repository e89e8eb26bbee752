-- Families of chats, as those who spawn and wait see them.

-- part: kin_row
-- A chat as family.kin_of reads it.
c.id, c.parent_id, c.title, c.mode, c.status, c.archived, c.last_error, c.created_at, c.updated_at

-- name: descendants
-- Of the wanted chats those whose line of parents leads to this one. UNION ends a line that would
-- lead back into itself.
WITH RECURSIVE line AS (
    SELECT id AS wanted, parent_id FROM chats WHERE id = ANY(%(wanted)s)
     UNION
    SELECT line.wanted, c.parent_id FROM line JOIN chats c ON c.id = line.parent_id
     WHERE line.parent_id <> %(of)s
)
SELECT {kin_row}
  FROM chats c
  JOIN line ON line.wanted = c.id AND line.parent_id = %(of)s;

-- name: children_page
-- Those that are not archived, the one that moved last first; and how many there are in all.
SELECT count(*) OVER (), {kin_row}
  FROM chats c
 WHERE c.parent_id = %(of)s AND NOT c.archived
 ORDER BY c.updated_at DESC, c.id DESC
 LIMIT %(limit)s OFFSET %(offset)s;

-- name: children_count
-- How many there are, for a page behind the last of them.
SELECT count(*) FROM chats WHERE parent_id = %(of)s AND NOT archived;

-- name: latest_answers
-- What a chat has said last, as far as users see it.
SELECT {message_row}
  FROM messages
 WHERE chat_id = %(chat)s AND role = 'assistant' AND NOT deleted AND visibility <> 'model'
 ORDER BY id DESC
 LIMIT %(limit)s;
