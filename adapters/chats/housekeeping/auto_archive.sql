-- Families in which nothing has been said for long.

-- part: last_said
-- The first moment of the day (UTC) so many days ago: what was said later keeps a family.
(date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
 - %(seconds)s::float8 * interval '1 second')

-- part: silent_family
-- A root `c` that is not pinned, nor at work, nor archived, and in whose family nothing was said.
-- Ids of messages grow, so the last one of each chat will do.
  FROM chats c
 WHERE c.parent_id IS NULL AND NOT c.archived AND c.pin_order = 0
   AND c.status IN ('waiting', 'error') AND c.created_at < {last_said}
   AND NOT EXISTS (
       SELECT FROM (SELECT c.id UNION ALL SELECT k.id FROM chats k WHERE k.root_id = c.id) AS member
        CROSS JOIN LATERAL (SELECT m.created_at FROM messages m
                             WHERE m.chat_id = member.id AND NOT m.deleted
                             ORDER BY m.id DESC LIMIT 1) AS last
        WHERE last.created_at >= {last_said})
   AND NOT EXISTS (SELECT FROM chats k
                    WHERE k.root_id = c.id AND NOT k.archived
                      AND k.status IN ('running', 'interrupting', 'requires_action'))

-- name: silent_families
-- The next of them in the order of their ids, with the snapshot that was looked at.
SELECT c.id, c.owner_id, c.title, c.snapshot_version {silent_family} AND c.id > %(after)s
 ORDER BY c.id LIMIT %(most)s;

-- name: count_silent_families
-- How many there are.
SELECT count(*) {silent_family};
