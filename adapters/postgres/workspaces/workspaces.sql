-- Workspaces, as far as they are not directories.

-- name: workspace_of_chat
-- The chat's own, or its root's: a child may have been spawned before there was one.
SELECT w.id, w.name, w.template, w.memory_mb, w.file_mb, w.processes, w.seconds,
       w.is_set_up, w.is_stopped
  FROM chats c
  LEFT JOIN chats r ON r.id = coalesce(c.root_id, c.parent_id)
  JOIN workspaces w ON w.id = coalesce(r.workspace_id, c.workspace_id)
 WHERE c.id = %(chat)s;

-- name: add_workspace
-- A workspace, and the chat bound to it; nothing, if its owner has one of this name.
WITH added AS (
    INSERT INTO workspaces (id, owner_id, name, template, memory_mb, file_mb, processes, seconds,
                            is_set_up)
    VALUES (%(id)s, %(owner)s, %(name)s, %(template)s, %(memory_mb)s, %(file_mb)s, %(processes)s,
            %(seconds)s, %(is_set_up)s)
    ON CONFLICT (owner_id, name) DO NOTHING
    RETURNING id
)
UPDATE chats c SET workspace_id = added.id
  FROM added
 WHERE c.id = %(chat)s
RETURNING added.id;

-- name: workspace_is_set_up
-- Its command has run to its end, however it ended.
UPDATE workspaces SET is_set_up = true WHERE id = %(id)s;

-- name: start_workspace
-- It may be worked in.
UPDATE workspaces SET is_stopped = false, started_at = now() WHERE id = %(id)s;

-- name: stop_workspace
-- Nobody works in it until it is started.
UPDATE workspaces SET is_stopped = true WHERE id = %(id)s;

-- name: template_uses
-- Who has used which template lately, and this user among them.
SELECT template,
       count(DISTINCT owner_id),
       count(*) FILTER (WHERE owner_id = %(owner)s),
       max(started_at) FILTER (WHERE owner_id = %(owner)s),
       extract(epoch FROM now() - max(started_at) FILTER (WHERE owner_id = %(owner)s))::float
  FROM workspaces
 WHERE started_at > now() - %(days)s * interval '1 day'
 GROUP BY template;
