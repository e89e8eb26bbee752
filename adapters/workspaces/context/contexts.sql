-- The context that chats have pinned of their workspaces. A chat that has been given another workspace
-- has nothing pinned of it.

-- name: pinned_of_chat
-- The pin that a chat has of this workspace, without its snapshot.
SELECT digest, dirty_since, error
  FROM chat_contexts
 WHERE chat_id = %(chat)s AND workspace_id = %(workspace)s;

-- name: snapshot_of_chat
-- The whole snapshot, if it is still the one with this digest.
SELECT snapshot FROM chat_contexts WHERE chat_id = %(chat)s AND digest = %(digest)s;

-- name: pin_context
-- Pin a snapshot. Returns nothing if the chat has one of this workspace and is not to have another.
INSERT INTO chat_contexts AS c (chat_id, workspace_id, digest, snapshot, pinned_at)
SELECT id, %(workspace)s, %(digest)s, %(snapshot)s, now() FROM chats WHERE id = %(chat)s
ON CONFLICT (chat_id) DO UPDATE
   SET workspace_id = excluded.workspace_id, digest = excluded.digest,
       snapshot = excluded.snapshot, pinned_at = excluded.pinned_at,
       dirty_since = NULL, error = NULL
 WHERE %(again)s::boolean OR c.digest IS NULL OR c.workspace_id <> excluded.workspace_id
RETURNING (SELECT owner_id FROM chats WHERE id = chat_id);

-- name: context_unread
-- Note why a chat has nothing of this workspace, or nothing newer. Returns nothing if that is known.
INSERT INTO chat_contexts AS c (chat_id, workspace_id, error)
SELECT id, %(workspace)s, %(error)s FROM chats WHERE id = %(chat)s
ON CONFLICT (chat_id) DO UPDATE
   SET workspace_id = excluded.workspace_id, error = excluded.error,
       digest = CASE WHEN c.workspace_id = excluded.workspace_id THEN c.digest END,
       snapshot = CASE WHEN c.workspace_id = excluded.workspace_id THEN c.snapshot END,
       dirty_since = CASE WHEN c.workspace_id = excluded.workspace_id THEN c.dirty_since END
 WHERE c.error IS DISTINCT FROM excluded.error OR c.workspace_id <> excluded.workspace_id
RETURNING (SELECT owner_id FROM chats WHERE id = chat_id);

-- name: workspace_stands
-- Note what is in a workspace now. Returns the chats with a pin of it for which that is news.
UPDATE chat_contexts p
   SET dirty_since = CASE WHEN p.digest <> %(digest)s THEN coalesce(p.dirty_since, now()) END,
       error = NULL
  FROM chats c
 WHERE p.workspace_id = %(workspace)s AND c.id = p.chat_id AND p.digest IS NOT NULL
   AND ((p.dirty_since IS NULL) = (p.digest <> %(digest)s) OR p.error IS NOT NULL)
RETURNING p.chat_id, c.owner_id;

-- name: workspace_unread
-- Note that it cannot be looked at any more. Returns the chats for which that is news.
UPDATE chat_contexts p SET error = %(error)s
  FROM chats c
 WHERE p.workspace_id = %(workspace)s AND c.id = p.chat_id
   AND p.error IS DISTINCT FROM %(error)s
RETURNING p.chat_id, c.owner_id;
