-- Who gets at a chat.

-- column: VisibleChat.root_id
-- A root is its own.
coalesce(c.root_id, c.id)

-- column: VisibleChat.by_owner
-- Whether the caller of the statement `admit` owns it.
c.owner_id = %(caller)s

-- part: being_erased
-- Whether the family of chat `c` is being erased: its rows go one after the other, and nobody is
-- shown what is left of them.
EXISTS (SELECT FROM erasures e WHERE e.root_id = coalesce(c.root_id, c.id) AND e.ended_at IS NULL)

-- part: admitted
-- Whether this caller may see chat `c`. What is shared is a whole family, by its root; the only
-- group there is holds all users.
((%(is_admin)s::boolean
  OR c.owner_id = %(caller)s
  OR (%(sharing)s::boolean
      AND EXISTS (SELECT FROM chat_readers r
                   WHERE r.chat_id = coalesce(c.root_id, c.id)
                     AND (r.subject_id = %(caller)s OR r.is_group))))
 AND NOT (c.archived AND {being_erased}))

-- name: admit
-- The chat, if this caller may see it.
SELECT {c.VisibleChat} FROM chats c WHERE c.id = %(chat)s AND {admitted};

-- name: without_access
-- Of these watchers, a chat and a user each, those who may see the chat no more.
SELECT w.chat, w.watcher
  FROM unnest(%(chats)s::uuid[], %(watchers)s::uuid[]) AS w (chat, watcher)
 WHERE NOT EXISTS (SELECT FROM users u WHERE u.id = w.watcher AND u.roles @> ARRAY['owner'])
   AND NOT EXISTS (SELECT FROM chats c
                    WHERE c.id = w.chat
                      AND (c.owner_id = w.watcher
                           OR (%(sharing)s::boolean
                               AND EXISTS (SELECT FROM chat_readers r
                                            WHERE r.chat_id = coalesce(c.root_id, c.id)
                                              AND (r.subject_id = w.watcher OR r.is_group)))));

-- name: readers_among
-- With which of these watchers each of these chats is shared.
SELECT DISTINCT c.id, w.id
  FROM chats c
  JOIN chat_readers r ON r.chat_id = coalesce(c.root_id, c.id)
  JOIN unnest(%(watchers)s::uuid[]) AS w (id) ON r.subject_id = w.id OR r.is_group
 WHERE c.id = ANY(%(chats)s::uuid[]) AND c.owner_id <> w.id;
