-- Servers of tools that speak MCP; who may use them; users' tokens.

-- name: mcp_servers
-- All of them, with those who may use them: users, and whether everybody does.
SELECT s.id, s.slug, s.config, s.sealed, s.created_at, s.updated_at,
       ARRAY(SELECT r.subject_id FROM mcp_server_readers r
              WHERE r.server_id = s.id AND NOT r.is_group),
       EXISTS (SELECT FROM mcp_server_readers r WHERE r.server_id = s.id AND r.is_group)
  FROM mcp_servers s ORDER BY s.slug;

-- name: add_mcp_server
-- A new one; nothing comes back if its slug is taken, or if there are as many as there can be.
INSERT INTO mcp_servers (id, slug, config, sealed)
SELECT %(id)s::uuid, %(slug)s, %(config)s, %(sealed)s::bytea
 WHERE (SELECT count(*) FROM mcp_servers) < %(most)s
    ON CONFLICT (slug) DO NOTHING
RETURNING id;

-- name: share_mcp_server
-- A new one is there for everybody.
INSERT INTO mcp_server_readers (server_id, subject_id, is_group)
SELECT id, %(group)s::uuid, true FROM mcp_servers WHERE id = %(id)s
    ON CONFLICT DO NOTHING;

-- name: change_mcp_server
-- Nothing comes back if it is gone, was changed meanwhile, or if another has this slug. If it is
-- another one now, what users showed to the former is not shown to it.
WITH changed AS (
    UPDATE mcp_servers s
       SET slug = %(slug)s, config = %(config)s, sealed = %(sealed)s,
           updated_at = clock_timestamp()
     WHERE s.id = %(id)s AND s.updated_at = %(seen)s
       AND NOT EXISTS (SELECT FROM mcp_servers o WHERE o.slug = %(slug)s AND o.id <> s.id)
    RETURNING s.id
), forgotten AS (
    DELETE FROM mcp_tokens t USING changed c
     WHERE t.server_id = c.id AND %(forget_tokens)s::boolean
)
SELECT id FROM changed;

-- name: remove_mcp_server
-- With its readers and its tokens.
DELETE FROM mcp_servers WHERE id = %(id)s RETURNING id;

-- name: mcp_slug_is_taken
-- By another one.
SELECT EXISTS (SELECT FROM mcp_servers WHERE slug = %(slug)s AND id <> %(id)s);

-- name: mcp_readers
-- The users who may use it, then whether everybody may (who has no name).
SELECT u.id, u.username, u.name, u.avatar_url, NULL::bigint
  FROM mcp_server_readers r JOIN users u ON u.id = r.subject_id
 WHERE r.server_id = %(id)s AND NOT r.is_group AND u.deleted_at IS NULL
 UNION ALL
SELECT r.subject_id, NULL, NULL, NULL, (SELECT count(*) FROM users WHERE deleted_at IS NULL)
  FROM mcp_server_readers r
 WHERE r.server_id = %(id)s AND r.is_group
 ORDER BY 2;

-- name: drop_mcp_readers
-- They may use it no more.
DELETE FROM mcp_server_readers
 WHERE server_id = %(id)s AND subject_id = ANY(%(users)s::uuid[]) AND NOT is_group
    OR server_id = %(id)s AND subject_id = ANY(%(groups)s::uuid[]) AND is_group;

-- name: add_mcp_readers
-- They may use it from now on.
INSERT INTO mcp_server_readers (server_id, subject_id, is_group)
SELECT %(id)s::uuid, id, false FROM unnest(%(users)s::uuid[]) AS id
 UNION ALL
SELECT %(id)s::uuid, id, true FROM unnest(%(groups)s::uuid[]) AS id
    ON CONFLICT DO NOTHING;

-- name: mcp_tokens
-- All that a user was given.
SELECT server_id, sealed, expires_at, failure, updated_at
  FROM mcp_tokens WHERE user_id = %(user)s;

-- name: put_mcp_token
-- It takes the place of the one that was there; nothing comes back if the server was changed
-- since the user set out to fetch it.
INSERT INTO mcp_tokens (user_id, server_id, sealed, expires_at)
SELECT %(user)s::uuid, s.id, %(sealed)s::bytea, %(expires_at)s::timestamptz
  FROM mcp_servers s WHERE s.id = %(id)s AND s.updated_at = %(seen)s
   FOR SHARE
    ON CONFLICT (user_id, server_id) DO UPDATE
   SET sealed = excluded.sealed, expires_at = excluded.expires_at, failure = '',
       updated_at = clock_timestamp()
RETURNING server_id;

-- name: renew_mcp_token
-- Only if no other process has renewed it meanwhile. A failure that was noted meanwhile does not
-- count: that renewal may have been refused because of this one.
UPDATE mcp_tokens
   SET sealed = %(sealed)s, expires_at = %(expires_at)s, failure = '',
       updated_at = clock_timestamp()
 WHERE user_id = %(user)s AND server_id = %(id)s
   AND (updated_at = %(seen)s OR failure <> '')
RETURNING server_id;

-- name: fail_mcp_token
-- It will never be renewed, and is not shown again; unless another process has renewed it meanwhile.
UPDATE mcp_tokens SET failure = %(failure)s, updated_at = clock_timestamp()
 WHERE user_id = %(user)s AND server_id = %(id)s AND updated_at = %(seen)s
RETURNING server_id;

-- name: note_mcp_scopes
-- The same token, with a note of the scopes that it lacks. It counts as the same, so that a renewal
-- that is under way is kept, and not this note.
UPDATE mcp_tokens SET sealed = %(sealed)s
 WHERE user_id = %(user)s AND server_id = %(id)s AND updated_at = %(seen)s AND failure = ''
RETURNING server_id;

-- name: delete_mcp_token
-- Away, and to be revoked.
DELETE FROM mcp_tokens WHERE user_id = %(user)s AND server_id = %(id)s RETURNING sealed;
