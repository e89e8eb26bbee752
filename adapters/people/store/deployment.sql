-- The deployment, and its first admin.

-- name: deployment
-- Its names, and when it was created.
SELECT {Deployment} FROM deployment;

-- name: lock_deployment
-- Let one process at a time change what there has to be exactly or at least one of.
SELECT first_admin_id FROM deployment FOR UPDATE;

-- column: FirstAdmin.can_log_in
-- Whether they have a password.
u.password_hash IS NOT NULL

-- name: first_admin
-- The admin of the deployment: the first of all, or else the oldest.
SELECT {u.FirstAdmin} FROM users u
 WHERE u.roles @> ARRAY['owner'] AND u.status <> 'suspended' AND u.deleted_at IS NULL
 ORDER BY (u.id = %(first)s::uuid) IS TRUE DESC, u.created_at, u.id LIMIT 1;

-- name: add_first_admin
-- Add an admin without a password, under a name that is free.
WITH added AS (
    INSERT INTO users AS u (id, username, roles, status)
    SELECT %(id)s::uuid,
           CASE WHEN EXISTS (SELECT FROM users WHERE lower(username) = 'admin')
                THEN 'admin-' || left(%(id)s::uuid::text, 8) ELSE 'admin' END,
           ARRAY['owner'], 'dormant'
    RETURNING u.*),
     noted AS (UPDATE deployment SET first_admin_id = %(id)s::uuid)
SELECT {u.User} FROM added u;

-- name: drop_configured_tokens
-- Delete tokens that the configuration does not name any more.
DELETE FROM tokens WHERE kind = 'configured' AND hash <> ALL(%(hashes)s::bytea[])
RETURNING user_id;

-- name: add_configured_token
-- Add a token of the first admin's that the configuration names, if it is not there.
INSERT INTO tokens (id, user_id, hash, kind, name)
VALUES (%(id)s, %(user)s, %(hash)s, 'configured', %(name)s)
ON CONFLICT (hash) DO NOTHING;
