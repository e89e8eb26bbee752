-- Chats as their users see them: one, a family, a page of a list; and what users change about them.

-- part: reader
-- Whom sharing may name when it means the caller: themselves, or all users.
(%(caller)s::uuid, (SELECT organization_id FROM deployment))

-- part: unread
-- Whether a model has said something since the owner of chat `c` looked.
EXISTS (SELECT FROM messages m
         WHERE m.chat_id = c.id AND m.id > c.last_read_message_id AND m.role = 'assistant'
           AND m.visibility <> 'model' AND NOT m.deleted)

-- part: asking_tool
-- The tool by which the turn of chat `c` asked its user when it ended; null: it did not ask. Only
-- chats that plan have such tools.
CASE WHEN c.status = 'waiting' AND c.plan_mode = 'plan' THEN
    (SELECT p ->> 'tool_name'
       FROM messages m, json_array_elements(m.content) AS p
      WHERE m.chat_id = c.id AND m.role = 'tool' AND NOT m.deleted
        AND m.id > (SELECT max(a.id) FROM messages a
                     WHERE a.chat_id = c.id AND a.role <> 'tool' AND NOT a.deleted)
        AND p ->> 'type' = 'tool-result'
        AND p ->> 'tool_name' IN ('ask_user_question', 'propose_plan')
        AND p ->> 'is_error' IS NULL
      ORDER BY m.id DESC
      LIMIT 1)
END

-- part: needs_owner
-- Whether the owner of root `c` has to look at it, or at one of its agents.
(NOT c.archived
 AND (c.status IN ('error', 'requires_action')
      OR {asking_tool} IS NOT NULL
      OR EXISTS (SELECT FROM chats k
                  WHERE k.root_id = c.id AND k.status = 'requires_action' AND NOT k.archived)))

-- column: OverviewRow.username
-- The owner's; user `u` is the owner of chat `c`.
u.username

-- column: OverviewRow.name
-- The owner's.
u.name

-- column: OverviewRow.root_id
-- A root is its own.
coalesce(c.root_id, c.id)

-- column: OverviewRow.context
-- How what it has pinned of its workspace stands; null: it has pinned nothing of this one.
(SELECT json_build_object('dirty_since', x.dirty_since, 'error', x.error)
   FROM chat_contexts x
  WHERE x.chat_id = c.id
    AND x.workspace_id = coalesce((SELECT r.workspace_id FROM chats r
                                    WHERE r.id = coalesce(c.root_id, c.parent_id)),
                                  c.workspace_id))

-- column: OverviewRow.diff
-- Its branch, and what the forge says of it; null: nothing is known of one.
(SELECT json_build_object('branch', d.branch, 'pull_request', d.pull_request,
                          'refreshed_at', d.refreshed_at, 'stale_at', d.stale_at)
   FROM diff_statuses d
  WHERE d.chat_id = c.id)

-- column: OverviewRow.shared
-- Whether others may read its family.
EXISTS (SELECT FROM chat_readers r WHERE r.chat_id = coalesce(c.root_id, c.id))

-- column: OverviewRow.has_unread
-- Whether a model has said something since its owner looked.
{unread}

-- column: OverviewRow.asked_by
-- The tool by which its last turn asks its user.
{asking_tool}

-- column: OverviewRow.question
-- The first question of the newest message of a model, if it asks its user.
CASE WHEN c.status = 'waiting' AND c.plan_mode = 'plan' THEN
    (SELECT p -> 'args' -> 'questions' -> 0 ->> 'question'
       FROM messages m, json_array_elements(m.content) AS p
      WHERE m.id = (SELECT max(a.id) FROM messages a
                     WHERE a.chat_id = c.id AND a.role = 'assistant' AND NOT a.deleted)
        AND p ->> 'type' = 'tool-call'
        AND p ->> 'tool_name' = 'ask_user_question'
      LIMIT 1)
END

-- column: SingleOverviewRow.place_in_line
-- The place of the chat among the free ones of its kind, if it has work to do and no process does it.
-- The one that has waited longest is taken first. Places above a thousand are told as a thousand.
-- The index chats_free finds them: its condition follows from what is asked here.
CASE WHEN c.status = 'running' AND NOT c.archived AND NOT EXISTS (
    SELECT FROM workers w
     WHERE w.id = c.worker_id
       AND w.heartbeat_at > now() - %(lease_seconds)s * interval '1 second')
THEN 1 + (SELECT count(*)
            FROM (SELECT FROM chats o
                   WHERE o.worker_id IS NULL
                     AND o.status = 'running'
                     AND NOT o.archived
                     AND (o.parent_id IS NULL) = (c.parent_id IS NULL)
                     AND (o.updated_at, o.id) < (c.updated_at, c.id)
                   LIMIT 999) AS earlier)
END

-- column: SingleOverviewRow.takeover_seconds
-- The seconds for which a silent process still keeps the chat, if there is something to do in it.
(SELECT greatest(0, extract(epoch FROM w.heartbeat_at - now()) + %(lease_seconds)s)::double precision
   FROM workers w
  WHERE w.id = c.worker_id AND c.id = %(chat)s
    AND (c.status = 'running' OR c.status = 'interrupting') AND NOT c.archived
    AND w.heartbeat_at < now() - %(silent_seconds)s * interval '1 second')

-- column: SingleOverviewRow.files
-- The files of the chat that was asked for; those of its children are not shown.
(SELECT json_agg(json_build_array({f.FileInfo}) ORDER BY f.created_at, f.id)
   FROM chat_files l JOIN files f ON f.id = l.file_id
  WHERE l.chat_id = c.id AND c.id = %(chat)s)

-- column: AdmittedRow.by_owner
-- Whether the caller owns it.
c.owner_id = %(caller)s

-- part: repository_fits
-- Whether what is known of the branch of root `c` is as asked. A pull request that is open and a
-- draft is a draft here; an address may be that of a descendant's.
(%(pr_statuses)s::text[] = '{}' AND %(pr)s::integer IS NULL AND %(pr_title)s::text IS NULL
     AND %(repo)s::text IS NULL
 OR EXISTS (SELECT FROM diff_statuses d
             WHERE d.chat_id = c.id
               AND (%(pr_statuses)s::text[] = '{}'
                    OR CASE WHEN d.pull_request ->> 'state' = 'open'
                                 AND (d.pull_request ->> 'draft')::boolean THEN 'draft'
                            ELSE d.pull_request ->> 'state' END = ANY(%(pr_statuses)s::text[]))
               AND (%(pr)s::integer IS NULL
                    OR (d.pull_request ->> 'number')::integer = %(pr)s::integer)
               AND (%(pr_title)s::text IS NULL
                    OR d.pull_request ->> 'title' ILIKE '%%' || %(pr_title)s || '%%')
               AND (%(repo)s::text IS NULL
                    OR d.remote_origin ILIKE '%%' || %(repo)s || '%%'
                    OR d.pull_request ->> 'url' ILIKE '%%' || %(repo)s || '%%')))
AND (%(diff_url)s::text IS NULL
     OR EXISTS (SELECT FROM chats k JOIN diff_statuses d ON d.chat_id = k.id
                 WHERE (k.id = c.id OR k.root_id = c.id)
                   AND lower(d.pull_request ->> 'url') = lower(%(diff_url)s)))

-- part: found_by_pull_request
-- Whether a search finds root `c` by the title of its pull request, or by the whole number of it.
EXISTS (SELECT FROM diff_statuses d
         WHERE d.chat_id = c.id
           AND (to_tsvector('simple', d.pull_request ->> 'title')
                @@ websearch_to_tsquery('simple', %(search)s)
                OR d.pull_request ->> 'number' = btrim(%(search)s)))

-- part: place
-- Where chat `c` stands in a list: what is pinned first, then what was touched last.
CASE WHEN c.pin_order > 0 THEN c.pin_order ELSE 2147483647 END

-- part: chat_and_children
-- A chat, then its children in the same state of archive, the newest first.
  FROM chats c
  JOIN users u ON u.id = c.owner_id
  JOIN chats asked ON asked.id = %(chat)s AND (c.id = asked.id OR c.archived = asked.archived)
 WHERE (c.id = %(chat)s OR c.parent_id = %(chat)s)

-- part: children_last
-- The chat, then its children.
 ORDER BY c.id <> %(chat)s, c.created_at DESC, c.id DESC

-- name: overview_of_chat
-- A chat and its files, then its children.
SELECT {c.SingleOverviewRow}
{chat_and_children}
{children_last};

-- name: overview_for_caller
-- The same, if this caller may see the chat.
SELECT {c.AdmittedRow}
{chat_and_children}
   AND EXISTS (SELECT FROM chats c WHERE c.id = %(chat)s AND {admitted})
{children_last};

-- part: roots
-- The roots that are asked about. What is the caller's own and what they may read come by different
-- indexes. `behind`: the chat called `after`.
WITH mine AS (
    SELECT c.* FROM chats c
     WHERE %(mine)s::boolean AND c.owner_id = %(caller)s AND c.parent_id IS NULL
       AND c.archived = %(archived)s AND NOT (c.archived AND {being_erased})
), theirs AS (
    SELECT c.* FROM chats c
     WHERE %(theirs)s::boolean AND c.owner_id <> %(caller)s AND c.parent_id IS NULL
       AND c.archived = %(archived)s AND NOT (c.archived AND {being_erased})
       AND c.id IN (SELECT r.chat_id FROM chat_readers r WHERE r.subject_id IN {reader})
), behind AS (
    SELECT {place} AS place, c.updated_at, c.id
      FROM chats c
     WHERE c.id = %(after)s
       AND (c.owner_id = %(caller)s
            OR EXISTS (SELECT FROM chat_readers r
                        WHERE r.chat_id = coalesce(c.root_id, c.id)
                          AND r.subject_id IN {reader}))
)

-- part: wanted
-- Those of the roots that fit, from behind the one called `after` on.
  FROM (SELECT * FROM mine UNION ALL SELECT * FROM theirs) AS c
  LEFT JOIN behind b ON true
 WHERE (%(title)s::text IS NULL OR c.title ILIKE '%%' || %(title)s || '%%')
   AND c.labels @> %(labels)s::jsonb
   AND {repository_fits}
   AND (%(statuses)s::text[] = '{}' OR c.status = ANY(%(statuses)s::text[]))
   AND (%(needs_me)s::boolean IS NULL
        OR %(needs_me)s = (c.owner_id = %(caller)s AND {needs_owner}))
   AND (%(unread)s::boolean IS NULL OR %(unread)s = {unread})
   AND (%(search)s::text IS NULL
        OR to_tsvector('simple', c.title) @@ websearch_to_tsquery('simple', %(search)s)
        OR {found_by_pull_request}
        OR EXISTS (SELECT FROM message_words w
                     JOIN messages m ON m.id = w.message_id AND NOT m.deleted
                    WHERE w.chat_id = c.id
                      AND w.words @@ websearch_to_tsquery('simple', %(search)s)))
   AND (%(after)s::uuid IS NULL
        OR {place} > b.place
        OR {place} = b.place AND (c.updated_at, c.id) < (b.updated_at, b.id))

-- name: count_chats
-- How many roots fit, up to a bound.
{roots}
SELECT count(*) FROM (SELECT {wanted} LIMIT %(limit)s) AS fits;

-- name: overview_page
-- Roots that are asked for and fit, and their children in the same state of archive.
{roots}, page AS (
    SELECT c.id, {place} AS place, c.updated_at
    {wanted}
     ORDER BY 2, 3 DESC, 1 DESC
     LIMIT %(limit)s OFFSET %(offset)s
)
SELECT {c.OverviewRow}
  FROM (SELECT p.id, row_number() OVER (ORDER BY p.place, p.updated_at DESC, p.id DESC) AS at,
               false AS is_child
          FROM page p
         UNION ALL
        SELECT k.id, 0, true
          FROM page p JOIN chats k ON k.parent_id = p.id AND k.archived = %(archived)s) AS shown
  JOIN chats c ON c.id = shown.id
  JOIN users u ON u.id = c.owner_id
 ORDER BY shown.is_child, shown.at, c.created_at DESC, c.id DESC;

-- name: retitle
-- Call it otherwise; nothing comes back if it is called that already.
UPDATE chats SET title = %(title)s WHERE id = %(chat)s AND title <> %(title)s RETURNING owner_id;

-- name: relabel
-- Other labels, all of them.
UPDATE chats SET labels = %(labels)s::jsonb, updated_at = now() WHERE id = %(chat)s;

-- name: set_plan_mode
-- How its next turns are to be made.
UPDATE chats SET plan_mode = %(plan_mode)s WHERE id = %(chat)s;

-- name: mark_read
-- Its owner has seen what models have said so far, and so what notices say of it.
WITH noticed AS (
    UPDATE notices n
       SET read_at = now()
      FROM chats o
     WHERE o.id = %(chat)s AND n.chat_id = o.id AND n.user_id = o.owner_id AND n.read_at IS NULL
)
UPDATE chats c
   SET last_read_message_id = seen.id
  FROM (SELECT max(id) AS id
          FROM messages
         WHERE chat_id = %(chat)s AND role = 'assistant' AND NOT deleted) AS seen
 WHERE c.id = %(chat)s AND c.last_read_message_id < seen.id;

-- name: mark_unread
-- Its owner has not seen the last thing that a model has said in it, if there is any.
UPDATE chats c
   SET last_read_message_id = said.id - 1
  FROM (SELECT max(id) AS id
          FROM messages
         WHERE chat_id = %(chat)s AND role = 'assistant' AND visibility <> 'model' AND NOT deleted)
       AS said
 WHERE c.id = %(chat)s AND c.last_read_message_id >= said.id;
