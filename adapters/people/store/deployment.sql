-- The deployment, and its first admin.

-- name: deployment
-- Its names, and since when it stands.
SELECT id, organization_id, created_at FROM deployment;

-- name: lock_deployment
-- One at a time for what there may be one of only, or must be one of always.
SELECT first_admin_id FROM deployment FOR UPDATE;

-- name: first_admin
-- Who looks after the deployment, and whether he can log in: the first of all, or the oldest.
SELECT u.password_hash IS NOT NULL, {user} FROM users u
 WHERE u.roles @> ARRAY['owner'] AND u.status <> 'suspended' AND u.deleted_at IS NULL
 ORDER BY (u.id = %(first)s::uuid) IS TRUE DESC, u.created_at, u.id LIMIT 1;

-- name: add_first_admin
-- There is no admin: one without a password, under a name that is free.
WITH added AS (
    INSERT INTO users AS u (id, username, roles, status)
    SELECT %(id)s::uuid,
           CASE WHEN EXISTS (SELECT FROM users WHERE lower(username) = 'admin')
                THEN 'admin-' || left(%(id)s::uuid::text, 8) ELSE 'admin' END,
           ARRAY['owner'], 'dormant'
    RETURNING u.*),
     noted AS (UPDATE deployment SET first_admin_id = %(id)s::uuid)
SELECT {user} FROM added u;

-- name: drop_configured_tokens
-- The configuration says otherwise now.
DELETE FROM tokens WHERE kind = 'configured' AND hash <> ALL(%(hashes)s::bytea[])
RETURNING user_id;

-- name: add_configured_token
-- The first admin's, as the configuration says; nothing to do if it said so before.
INSERT INTO tokens (id, user_id, hash, kind, name)
VALUES (%(id)s, %(user)s, %(hash)s, 'configured', %(name)s)
ON CONFLICT (hash) DO NOTHING;
