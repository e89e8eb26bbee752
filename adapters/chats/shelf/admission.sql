-- Who gets at a chat.

-- name: admit
-- The chat, if this caller may see it. What is shared is a whole family, by its root; the only
-- group there is holds everybody.
SELECT c.id, c.owner_id, c.parent_id, coalesce(c.root_id, c.id), c.status, c.archived, c.title,
       c.plan_mode, c.mode, c.pin_order, c.mcp_server_ids, c.last_model_config_id,
       c.last_reasoning_effort
  FROM chats c
 WHERE c.id = %(chat)s
   AND (%(is_admin)s::boolean
        OR c.owner_id = %(caller)s
        OR (%(sharing)s::boolean
            AND EXISTS (SELECT FROM chat_readers r
                         WHERE r.chat_id = coalesce(c.root_id, c.id)
                           AND (r.subject_id = %(caller)s OR r.is_group))));

-- name: uninvited
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
