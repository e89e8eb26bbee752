-- The rows of workspaces; their directories lie on a disk.

-- name: workspace_of_chat
-- The workspace of a chat, or of its root: a child may have been spawned before there was one.
SELECT w.id, w.name, w.template, w.memory_mb, w.file_mb, w.processes, w.seconds, w.disk_mb,
       w.is_set_up, w.is_stopped
  FROM chats c
  LEFT JOIN chats r ON r.id = coalesce(c.root_id, c.parent_id)
  JOIN workspaces w ON w.id = coalesce(r.workspace_id, c.workspace_id) AND w.removed_at IS NULL
 WHERE c.id = %(chat)s;

-- name: add_workspace
-- Add a workspace and bind the family to it. Returns nothing if its owner has one of this name.
WITH {locked_family}, added AS (
    INSERT INTO workspaces (id, owner_id, name, template, memory_mb, file_mb, processes, seconds,
                            disk_mb, is_set_up)
    VALUES (%(id)s, %(owner)s, %(name)s, %(template)s, %(memory_mb)s, %(file_mb)s, %(processes)s,
            %(seconds)s, %(disk_mb)s, %(is_set_up)s)
    ON CONFLICT (owner_id, name) DO NOTHING
    RETURNING id
), bound AS (
    UPDATE chats c SET workspace_id = added.id FROM added, locked_family f WHERE c.id = f.id
)
SELECT id FROM added;

-- name: bind_workspace
-- Let a chat, and those that it has spawned, work there from now on; null: in none.
WITH {locked_family}
UPDATE chats c SET workspace_id = %(workspace)s, updated_at = now() FROM locked_family f
 WHERE c.id = f.id AND c.workspace_id IS DISTINCT FROM %(workspace)s
RETURNING c.id, c.owner_id;

-- name: workspace_is_set_up
-- Note that its set-up command has run to its end, however it ended.
UPDATE workspaces SET is_set_up = true WHERE id = %(id)s;

-- name: start_workspace
-- Let it be worked in.
UPDATE workspaces SET is_stopped = false, started_at = now(), used_at = now()
 WHERE id = %(id)s AND removed_at IS NULL;

-- name: stop_workspace
-- Stop it: no chat works in it until it is started.
UPDATE workspaces SET is_stopped = true WHERE id = %(id)s;

-- name: template_uses
-- How each template was used lately, by all and by this user.
SELECT template,
       count(DISTINCT owner_id) FILTER (WHERE removed_at IS NULL),
       count(*) FILTER (WHERE owner_id = %(owner)s AND removed_at IS NULL),
       count(*) FILTER (WHERE owner_id = %(owner)s AND removed_at IS NOT NULL),
       max(started_at) FILTER (WHERE owner_id = %(owner)s),
       extract(epoch FROM now() - max(started_at) FILTER (WHERE owner_id = %(owner)s))::float
  FROM workspaces
 WHERE started_at > now() - %(days)s * interval '1 day'
 GROUP BY template;

-- name: workspaces_of
-- The number of workspaces that a user has.
SELECT count(*) FROM workspaces WHERE owner_id = %(owner)s AND removed_at IS NULL;

-- part: owned
-- A workspace `w` of user `u`, in the order of OwnedWorkspace.
w.id, w.owner_id, u.username, w.name, w.template, w.memory_mb, w.file_mb, w.processes, w.seconds,
w.disk_mb, w.is_set_up, w.is_stopped, w.created_at, w.started_at, w.used_at

-- name: owned_workspace
-- One workspace, if it is this user's; or any, for those who may see all.
SELECT {owned} FROM workspaces w JOIN users u ON u.id = w.owner_id
 WHERE w.id = %(workspace)s AND w.removed_at IS NULL
   AND (w.owner_id = %(owner)s OR %(all_users)s::boolean);

-- name: owned_workspaces
-- A page of workspaces, those worked in last first; and how many there are on all pages.
WITH wanted AS (
    SELECT {owned} FROM workspaces w JOIN users u ON u.id = w.owner_id
     WHERE w.removed_at IS NULL AND (w.owner_id = %(owner)s OR %(all_users)s::boolean)
       AND (%(username)s::text IS NULL OR lower(u.username) = lower(%(username)s))
       AND (%(name)s::text IS NULL OR position(lower(%(name)s) IN w.name) > 0)
       AND (%(template)s::text IS NULL OR w.template = %(template)s)
       AND (%(is_stopped)s::boolean IS NULL OR w.is_stopped = %(is_stopped)s)
)
SELECT total.count, page.*
  FROM (SELECT count(*) FROM wanted) AS total
  LEFT JOIN (SELECT * FROM wanted ORDER BY used_at DESC, id LIMIT %(limit)s OFFSET %(offset)s)
         AS page ON true
 ORDER BY page.used_at DESC, page.id;

-- name: chats_of_workspaces
-- The chat of each that was touched last, of those that are not archived and that the caller may
-- read.
SELECT DISTINCT ON (c.workspace_id) c.workspace_id, c.id
  FROM chats c
 WHERE c.workspace_id = ANY(%(workspaces)s) AND c.parent_id IS NULL AND NOT c.archived
   AND (%(is_admin)s::boolean
        OR c.owner_id = %(caller)s
        OR (%(sharing)s::boolean
            AND EXISTS (SELECT FROM chat_readers r
                         WHERE r.chat_id = c.id
                           AND (r.subject_id = %(caller)s OR r.is_group))))
 ORDER BY c.workspace_id, c.updated_at DESC, c.id;

-- name: use_workspaces
-- Note that these were worked in a moment ago.
UPDATE workspaces SET used_at = now() WHERE id = ANY(%(workspaces)s);

-- part: at_work
-- True if a chat that works in workspace `w` is at work.
EXISTS (SELECT FROM chats c
         WHERE c.workspace_id = w.id AND c.status IN ('running', 'interrupting', 'requires_action'))

-- name: stop_idle_workspaces
-- Stop those in which no chat has worked for the time that is set, if any, and none works now.
UPDATE workspaces SET is_stopped = true
 WHERE id IN (
    SELECT w.id FROM workspaces w
      JOIN settings s ON s.name = 'workspace_ttl_ms' AND s.value::text::bigint > 0
     WHERE NOT w.is_stopped AND w.removed_at IS NULL
       AND w.used_at < now() - s.value::text::bigint * interval '1 millisecond'
       AND NOT {at_work}
     ORDER BY w.used_at
     LIMIT %(most)s
       FOR UPDATE OF w SKIP LOCKED)
RETURNING id;

-- name: remove_workspace
-- Remove it for all; its directory goes as soon as the process that has it can remove it. Its name
-- may be given again. Returns nothing if a chat works in it.
WITH gone AS (
    UPDATE workspaces w SET removed_at = now(), is_stopped = true, name = w.id::text
     WHERE w.id = %(id)s AND w.removed_at IS NULL AND NOT {at_work}
    RETURNING w.id
), bound AS MATERIALIZED (
    SELECT c.id FROM chats c JOIN gone ON c.workspace_id = gone.id
     ORDER BY {lock_order}
       FOR NO KEY UPDATE OF c
), unbound AS (
    UPDATE chats c SET workspace_id = NULL FROM bound WHERE c.id = bound.id
)
SELECT id FROM gone;

-- name: unused_workspaces
-- The workspaces in which no chat has worked for so many days: if no chat but archived ones has them, or, for
-- another number of days, whichever have them. No number: never.
SELECT w.id FROM workspaces w
 WHERE w.removed_at IS NULL AND NOT {at_work}
   AND NOT EXISTS (SELECT FROM legal_holds h LEFT JOIN chats c ON c.id = h.root_id
                    WHERE h.user_id = w.owner_id OR c.workspace_id = w.id)
   AND ((w.used_at < now() - %(days)s::float * interval '1 day'
         AND NOT EXISTS (SELECT FROM chats c WHERE c.workspace_id = w.id AND NOT c.archived))
        OR w.used_at < now() - %(days_max)s::float * interval '1 day')
 ORDER BY w.used_at
 LIMIT %(most)s;

-- name: closed_workspaces
-- The ones of these in which no chat works any more.
SELECT asked.id FROM unnest(%(workspaces)s::uuid[]) AS asked (id)
 WHERE NOT EXISTS (SELECT FROM workspaces w
                    WHERE w.id = asked.id AND NOT w.is_stopped AND w.removed_at IS NULL);

-- name: unknown_workspaces
-- The ones of these that have no row.
SELECT asked.id FROM unnest(%(workspaces)s::uuid[]) AS asked (id)
 WHERE NOT EXISTS (SELECT FROM workspaces w WHERE w.id = asked.id);

-- name: removed_workspaces
-- The removed workspaces whose directories may still lie on a disk.
SELECT id FROM workspaces WHERE removed_at IS NOT NULL ORDER BY removed_at LIMIT %(most)s;

-- name: forget_workspaces
-- Delete the rows of those that were removed long ago: the process that had the directory of one has removed it.
DELETE FROM workspaces WHERE removed_at < now() - %(days)s::float * interval '1 day';
