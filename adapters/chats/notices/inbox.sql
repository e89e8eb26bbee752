-- The inboxes of users.

-- column: NoticeRow.chat_title
-- As the chat is called now, for its owner; others see it as it was called when they were told.
CASE WHEN c.owner_id = n.user_id THEN c.title END

-- part: notice_is_wanted
-- The filters of a list: kinds, chats that it leads to, read or not.
n.kind = ANY(%(kinds)s)
AND %(targets)s::uuid[] <@ array_remove(ARRAY[n.chat_id], NULL)
AND (%(is_read)s::boolean IS NULL OR (n.read_at IS NOT NULL) = %(is_read)s::boolean)

-- name: inbox_page
-- The newest first, below the one that the user has seen last. An unknown one is ignored.
WITH seen AS (
    SELECT created_at, id FROM notices WHERE id = %(before)s AND user_id = %(user)s
)
SELECT {n.NoticeRow}
  FROM notices n LEFT JOIN chats c ON c.id = n.chat_id
 WHERE n.user_id = %(user)s AND {notice_is_wanted}
   AND (NOT EXISTS (SELECT FROM seen)
        OR (n.created_at, n.id) < (SELECT s.created_at, s.id FROM seen s))
 ORDER BY n.created_at DESC, n.id DESC
 LIMIT %(count)s;

-- name: inbox_news
-- What came lately. A transaction that began earlier may commit later, so the reader remembers
-- which it has told.
SELECT {n.NoticeRow}
  FROM notices n LEFT JOIN chats c ON c.id = n.chat_id
 WHERE n.user_id = %(user)s
   AND n.created_at > now() - %(seconds)s * interval '1 second'
 ORDER BY n.created_at DESC, n.id DESC
 LIMIT %(count)s;

-- name: count_unread_notices
-- How many the user has not read.
SELECT count(*) FROM notices WHERE user_id = %(user)s AND read_at IS NULL;

-- name: set_notice_read
-- One of the user's own.
UPDATE notices n
   SET read_at = CASE WHEN %(is_read)s THEN coalesce(n.read_at, now()) END
 WHERE n.id = %(id)s AND n.user_id = %(user)s;

-- name: notice
-- One of the user's own.
SELECT {n.NoticeRow}
  FROM notices n LEFT JOIN chats c ON c.id = n.chat_id
 WHERE n.id = %(id)s AND n.user_id = %(user)s;

-- name: read_all_notices
-- They have seen them all.
UPDATE notices SET read_at = now() WHERE user_id = %(user)s AND read_at IS NULL;

-- name: file_notice
-- One that no write of a chat brings. Nothing comes of it if the event was filed before.
SELECT file_event(%(user)s, %(kind)s, %(chat)s, %(event)s, %(detail)s);

-- name: forget_notices
-- Those that are old, and of each user those above the most that are kept, the oldest first. What
-- another process forgets at the moment is left to it.
DELETE FROM notices
 WHERE id IN (
    SELECT n.id
      FROM notices n
     WHERE n.created_at < now() - %(days)s * interval '1 day'
        OR n.id IN (SELECT k.id
                      FROM (SELECT DISTINCT user_id FROM notices
                             WHERE created_at > now() - %(looked_seconds)s * interval '1 second')
                           AS u,
                           LATERAL (SELECT o.id FROM notices o WHERE o.user_id = u.user_id
                                     ORDER BY o.created_at DESC, o.id DESC
                                    OFFSET %(notices_max)s LIMIT %(count)s) AS k)
     LIMIT %(count)s
       FOR UPDATE SKIP LOCKED)
RETURNING 1;
