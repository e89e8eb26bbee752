-- What watchers of chats are told, read as one snapshot; and whether there is anything to read.

-- name: watched_chat
-- The version in which something went from its history last, what it has become lately, the newest
-- last, and the chat itself.
SELECT (SELECT coalesce(max(revision), 0) FROM messages WHERE chat_id = %(chat)s AND deleted),
       status_trail, {chat_row}
  FROM chats
 WHERE id = %(chat)s;

-- name: standing_messages
-- What stands of the history. Only what is new to one who has all messages up to `message_id`, and
-- all as of `history_version`; the whole of it, if something has gone since.
SELECT {message_row}
  FROM messages
 WHERE chat_id = %(chat)s
   AND NOT deleted
   AND ((id > %(message_id)s AND revision > %(history_version)s)
        OR EXISTS (SELECT FROM messages
                    WHERE chat_id = %(chat)s AND deleted AND revision > %(history_version)s))
 ORDER BY id;

-- name: open_tail
-- The last assistant message and the tool messages after it, whole: the calls that a client has to
-- answer are among them. Nothing, if no client has to.
SELECT {message_row}
  FROM messages
 WHERE chat_id = %(chat)s
   AND NOT deleted
   AND role IN ('assistant', 'tool')
   AND EXISTS (SELECT FROM chats WHERE id = %(chat)s AND status = 'requires_action')
   AND id >= (SELECT max(id)
                FROM messages
               WHERE chat_id = %(chat)s AND NOT deleted AND role = 'assistant')
 ORDER BY id;

-- name: moved_on
-- Of many chats, those that are at a newer snapshot than is known of them.
SELECT c.id, c.snapshot_version
  FROM unnest(%(chats)s::uuid[], %(versions)s::bigint[]) AS known(id, version)
  JOIN chats c USING (id)
 WHERE c.snapshot_version > known.version;
