-- What watchers of chats are told, read as one snapshot; and whether there is anything to read.

-- name: watched_chat
-- A chat as whoever watches it has to know it, in one statement, which sees one snapshot by itself:
-- the version in which something went from its history last; what it has become lately, the newest
-- last; the chat; what stands of the history and is new to one who has all messages up to
-- `message_id` and all as of `history_version`, or all of it if something has gone since; the
-- queue; if a client has to answer calls, the messages in which they are; and which of the chat and
-- its agents wait for somebody, and for whose consent.
SELECT (SELECT coalesce(max(revision), 0) FROM messages WHERE chat_id = %(chat)s AND deleted),
       status_trail,
       {ChatRow},
       (SELECT json_agg(json_build_array({MessageRow}) ORDER BY id)
          FROM messages
         WHERE chat_id = %(chat)s
           AND NOT deleted
           AND ((id > %(message_id)s AND revision > %(history_version)s)
                OR EXISTS (SELECT FROM messages
                            WHERE chat_id = %(chat)s
                              AND deleted
                              AND revision > %(history_version)s))),
       (SELECT json_agg(json_build_array({QueuedRow}) ORDER BY position, id)
          FROM queued_messages
         WHERE chat_id = %(chat)s),
       CASE WHEN status = 'requires_action' THEN
           (SELECT json_agg(json_build_array({MessageRow}) ORDER BY id)
              FROM messages
             WHERE chat_id = %(chat)s
               AND NOT deleted
               AND role IN ('assistant', 'tool')
               AND id >= (SELECT max(id)
                            FROM messages
                           WHERE chat_id = %(chat)s AND NOT deleted AND role = 'assistant'))
       END,
       (SELECT json_agg(json_build_array(f.id, f.title, f.approvals) ORDER BY f.created_at, f.id)
          FROM chats f
         WHERE (f.id = %(chat)s OR f.root_id = %(chat)s)
           AND f.status = 'requires_action'
           AND NOT f.archived)
  FROM chats
 WHERE id = %(chat)s;

-- name: moved_on
-- Of many chats, those that are at a newer snapshot than is known of them.
SELECT c.id, c.snapshot_version
  FROM unnest(%(chats)s::uuid[], %(versions)s::bigint[]) AS known(id, version)
  JOIN chats c USING (id)
 WHERE c.snapshot_version > known.version;

-- name: asking_of
-- Of many chats those that wait for somebody, or one of whose agents does: each such chat, its root.
SELECT id, coalesce(root_id, id)
  FROM chats
 WHERE (id = ANY(%(chats)s) OR root_id = ANY(%(chats)s))
   AND status = 'requires_action'
   AND NOT archived;
