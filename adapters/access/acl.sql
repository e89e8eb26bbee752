-- Who may read a family of chats besides its owner.

-- name: readers
-- The users it is shared with, then whether it is shared with everybody (who has no name).
SELECT u.id, u.username, u.name, u.avatar_url, NULL::bigint
  FROM chat_readers r JOIN users u ON u.id = r.subject_id
 WHERE r.chat_id = %(chat)s AND NOT r.is_group AND u.deleted_at IS NULL
 UNION ALL
SELECT r.subject_id, NULL, NULL, NULL, (SELECT count(*) FROM users WHERE deleted_at IS NULL)
  FROM chat_readers r
 WHERE r.chat_id = %(chat)s AND r.is_group
 ORDER BY 2;

-- name: known_users
-- Which of these users there are.
SELECT id FROM users WHERE id = ANY(%(wanted)s) AND deleted_at IS NULL;

-- name: drop_readers
-- They read it no more.
DELETE FROM chat_readers
 WHERE chat_id = %(chat)s AND subject_id = ANY(%(users)s) AND NOT is_group
    OR chat_id = %(chat)s AND subject_id = ANY(%(groups)s) AND is_group;

-- name: add_readers
-- They read it from now on. Those who are named, and were none, find a notice in their inbox.
WITH added AS (
    INSERT INTO chat_readers (chat_id, subject_id, is_group)
    SELECT %(chat)s::uuid, id, false FROM unnest(%(users)s::uuid[]) AS id
     UNION ALL
    SELECT %(chat)s::uuid, id, true FROM unnest(%(groups)s::uuid[]) AS id
        ON CONFLICT DO NOTHING
    RETURNING chat_id, subject_id, is_group
)
SELECT file_event(a.subject_id, 'shared', c.id,
                  concat('shared/', c.id, ' ', a.subject_id, ' ', pg_current_xact_id()),
                  json_build_object('title', c.title, 'by', coalesce(nullif(u.name, ''), u.username)))
  FROM added a JOIN chats c ON c.id = a.chat_id JOIN users u ON u.id = c.owner_id
 WHERE NOT a.is_group AND a.subject_id <> c.owner_id;
