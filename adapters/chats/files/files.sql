-- Files that users have brought. What a file holds never changes, and neither does anything that is
-- said of it: what was read once may be kept.

-- part: file_reached
-- Whether a caller gets at the file `f` without being an admin: it is his, or in a chat that he may
-- read.
(f.owner_id = %(caller)s
 OR EXISTS (SELECT FROM chat_files l JOIN chats c ON c.id = l.chat_id
             WHERE l.file_id = f.id
               AND (c.owner_id = %(caller)s
                    OR (%(sharing)s::boolean
                        AND EXISTS (SELECT FROM chat_readers r
                                     WHERE r.chat_id = coalesce(c.root_id, c.id)
                                       AND (r.subject_id = %(caller)s OR r.is_group))))))

-- column: FileWithDigest.sha256
-- Of its content `c`.
c.sha256

-- column: FileWithContent.bytes
-- Its content `c`.
c.bytes

-- name: find_files
-- Those of `wanted` that are there and that the caller may see, without what is in them.
SELECT {f.FileInfo}
  FROM files f
 WHERE f.id = ANY(%(wanted)s) AND (%(is_admin)s::boolean OR {file_reached});

-- name: add_file
-- A file and what is in it.
WITH added AS (
    INSERT INTO files (id, owner_id, name, media_type, size_bytes)
    VALUES (%(id)s, %(owner)s, %(name)s, %(media_type)s, octet_length(%(bytes)s::bytea))
    RETURNING id
)
INSERT INTO file_contents (file_id, bytes, sha256)
SELECT id, %(bytes)s, %(sha256)s FROM added;

-- name: lock_files_of_chat
-- Who else links files to it waits, so that their number holds. The lock is that of an UPDATE.
SELECT FROM chats WHERE id = %(chat)s FOR NO KEY UPDATE;

-- name: keep_file
-- A file that a chat has made, with what is in it, linked to it: all, or nothing if there is no
-- room. Under an id that is there already nothing is written. Whether it is the chat's now; no row
-- for a chat that is gone.
WITH had AS (
    SELECT count(l.file_id) AS number, coalesce(bool_or(l.file_id = %(id)s), false) AS has_it
      FROM chats c LEFT JOIN chat_files l ON l.chat_id = c.id
     WHERE c.id = %(chat)s
     GROUP BY c.id
), added AS (
    INSERT INTO files (id, owner_id, name, media_type, size_bytes)
    SELECT %(id)s, %(owner)s, %(name)s, %(media_type)s, octet_length(%(bytes)s::bytea)
      FROM had WHERE NOT has_it AND number < %(most)s
    RETURNING id
), filled AS (
    INSERT INTO file_contents (file_id, bytes, sha256)
    SELECT id, %(bytes)s, sha256(%(bytes)s::bytea) FROM added
), linked AS (
    INSERT INTO chat_files (chat_id, file_id) SELECT %(chat)s, id FROM added
)
SELECT had.has_it OR EXISTS (SELECT FROM added) FROM had;

-- name: file_summed
-- A file that the caller may see, with the sum of its content.
SELECT {f.FileWithDigest}
  FROM files f JOIN file_contents c ON c.file_id = f.id
 WHERE f.id = %(id)s AND (%(is_admin)s::boolean OR {file_reached});

-- name: file_opened
-- A file that the caller may see, with its content.
SELECT {f.FileWithContent}
  FROM files f JOIN file_contents c ON c.file_id = f.id
 WHERE f.id = %(id)s AND (%(is_admin)s::boolean OR {file_reached});

-- name: file_linked
-- A file with its content, for a user of whom only the id is known: if he may still come in, and
-- still see it.
SELECT {f.FileWithContent}
  FROM files f
  JOIN file_contents c ON c.file_id = f.id
  JOIN users u ON u.id = %(caller)s AND u.deleted_at IS NULL AND u.status <> 'suspended'
 WHERE f.id = %(id)s AND ('owner' = ANY(u.roles) OR {file_reached});

-- name: contents_of_files
-- What is in files that a chat refers to: who may see the chat has been settled.
SELECT f.id, f.media_type, f.name, c.bytes
  FROM files f JOIN file_contents c ON c.file_id = f.id
 WHERE f.id = ANY(%(wanted)s);
