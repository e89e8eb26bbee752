-- What watchers of chats are told, read as one snapshot; and whether there is anything to read.

-- column: WatchedRow.gone_at
-- The version in which a message went from its history last.
(SELECT coalesce(max(revision), 0) FROM messages WHERE chat_id = %(chat)s AND deleted)

-- column: WatchedRow.messages
-- What is new of the history to a watcher who has all messages up to `message_id` and all as of
-- `history_version`; all of it if a message has gone since.
(SELECT json_agg(json_build_array({MessageRow}) ORDER BY id)
   FROM messages
  WHERE chat_id = %(chat)s
    AND NOT deleted
    AND ((id > %(message_id)s AND revision > %(history_version)s)
         OR EXISTS (SELECT FROM messages
                     WHERE chat_id = %(chat)s
                       AND deleted
                       AND revision > %(history_version)s)))

-- column: WatchedRow.queue
-- The queue, in the order in which it will be taken.
(SELECT json_agg(json_build_array({QueuedRow}) ORDER BY position, id)
   FROM queued_messages
  WHERE chat_id = %(chat)s)

-- column: WatchedRow.tail
-- The messages with the calls that a client has to answer, if there are any.
CASE WHEN status = 'requires_action' THEN
    (SELECT json_agg(json_build_array({MessageRow}) ORDER BY id)
       FROM messages
      WHERE chat_id = %(chat)s
        AND NOT deleted
        AND role IN ('assistant', 'tool')
        AND id >= (SELECT max(id)
                     FROM messages
                    WHERE chat_id = %(chat)s AND NOT deleted AND role = 'assistant'))
END

-- column: WatchedRow.family_approvals
-- Which of the chat and its agents wait for a person, and for whose consent.
(SELECT json_agg(json_build_array(f.id, f.title, f.approvals) ORDER BY f.created_at, f.id)
   FROM chats f
  WHERE (f.id = %(chat)s OR f.root_id = %(chat)s)
    AND f.status = 'requires_action'
    AND NOT f.archived)

-- name: watched_chat
-- A chat with all that its watchers have to know: one statement, so that it sees one snapshot.
SELECT {WatchedRow}
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
