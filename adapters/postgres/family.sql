-- Families of chats, as those who spawn and wait see them.

-- part: lock_order
-- The one order in which chats `c` are locked together, whatever is done to them: roots, then family
-- by family. Of two that lock several one waits for the other, and never both.
c.root_id NULLS FIRST, c.id

-- part: locked_family
-- A root and all that were spawned in its family, locked in that order.
locked_family AS MATERIALIZED (
    SELECT c.id FROM chats c
     WHERE c.id = %(root)s OR c.root_id = %(root)s
     ORDER BY {lock_order}
       FOR NO KEY UPDATE
)

-- column: SettledRow.role
-- Who spoke last in chat `c`.
ending.role

-- column: SettledRow.cost_source
-- What that cost, by whom.
ending.cost_source

-- column: SettledRow.content
-- The last that users see of chat `c` with words in it.
told.content

-- column: SettledRow.content_version
-- How that is stored.
told.content_version

-- column: ChildRow.total
-- How many children there are.
count(*) OVER ()

-- part: lines
-- From each of the wanted chats up to this one, if its line of parents leads here. UNION ends a line
-- that would lead back into itself.
WITH RECURSIVE line AS (
    SELECT id AS wanted, parent_id FROM chats WHERE id = ANY(%(wanted)s)
     UNION
    SELECT line.wanted, c.parent_id FROM line JOIN chats c ON c.id = line.parent_id
     WHERE line.parent_id <> %(of)s
)

-- name: descendants
-- Of the wanted chats those whose line of parents leads to this one.
{lines}
SELECT {c.KinRow}
  FROM chats c
  JOIN line ON line.wanted = c.id AND line.parent_id = %(of)s;

-- name: family_reports
-- The same; and of those that have settled, how what they have said ends, and the last that users
-- see of it with any words in it. One statement, however many are waited for.
{lines}
SELECT {c.SettledRow}
  FROM chats c
  JOIN line ON line.wanted = c.id AND line.parent_id = %(of)s
  LEFT JOIN LATERAL (
           SELECT m.role, m.cost_source
             FROM messages m
            WHERE m.chat_id = c.id
              AND NOT m.deleted AND NOT m.compressed AND m.visibility <> 'model'
            ORDER BY m.id DESC
            LIMIT 1) ending ON c.status IN ('waiting', 'error')
  LEFT JOIN LATERAL (
           SELECT answer.content, answer.content_version
             FROM (SELECT m.id, m.content, m.content_version
                     FROM messages m
                    WHERE m.chat_id = c.id
                      AND m.role = 'assistant' AND NOT m.deleted AND m.visibility <> 'model'
                    ORDER BY m.id DESC
                    LIMIT %(answers)s) answer
            WHERE EXISTS (SELECT
                            FROM json_array_elements(answer.content) part
                           WHERE part ->> 'type' = 'text' AND part ->> 'text' ~ '\S')
            ORDER BY answer.id DESC
            LIMIT 1) told ON c.status IN ('waiting', 'error');

-- name: children_page
-- Those that are not archived, the one that moved last first; and how many there are in all.
SELECT {c.ChildRow}
  FROM chats c
 WHERE c.parent_id = %(of)s AND NOT c.archived
 ORDER BY c.updated_at DESC, c.id DESC
 LIMIT %(limit)s OFFSET %(offset)s;

-- name: children_count
-- How many there are, for a page behind the last of them.
SELECT count(*) FROM chats WHERE parent_id = %(of)s AND NOT archived;

-- name: family_counts
-- What a chat is asked before it gets another child: its client, how many it has already, and where
-- it works by now.
SELECT p.client_type,
       count(c.id),
       count(c.id) FILTER (WHERE c.status IN ('running', 'interrupting', 'requires_action')),
       p.workspace_id
  FROM chats p
  LEFT JOIN chats c ON c.parent_id = p.id AND c.id <> ALL(%(besides)s)
 WHERE p.id = %(of)s
 GROUP BY p.client_type, p.workspace_id;

-- name: lock_parent
-- Whether a child may be born, and with which policy of consent: its family is not archived, and
-- neither changes until the child is there.
SELECT NOT archived, approval_policy FROM chats WHERE id = %(parent)s FOR SHARE;
