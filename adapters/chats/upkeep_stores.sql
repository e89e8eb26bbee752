-- Titles stand beside the law: nothing of a chat moves with them.

-- name: is_called
-- Whether this is the chat's title now.
SELECT EXISTS (SELECT FROM chats WHERE id = %(chat)s AND title = %(title)s);

-- name: rename
-- Give it another title, unless somebody has done so meanwhile.
UPDATE chats SET title = %(title)s
 WHERE id = %(chat)s AND title = %(was)s
RETURNING owner_id;
