-- Users: who they are, and how they change.

-- column: User.is_deleted
-- Chats and messages name deleted users still.
u.deleted_at IS NOT NULL

-- column: CountedUser.count
-- How many users match in all.
count(*) OVER ()

-- part: another_admin
-- Whether there is another admin beside this user, or this user is none.
(NOT u.roles @> ARRAY['owner'] OR u.status = 'suspended'
 OR EXISTS (SELECT FROM users o
             WHERE o.id <> u.id AND o.roles @> ARRAY['owner']
               AND o.status <> 'suspended' AND o.deleted_at IS NULL))

-- name: users_of_ids
-- Those of these users that exist, deleted or not.
SELECT {u.User} FROM users u WHERE u.id = ANY(%(ids)s);

-- name: user_of_name
-- The user who has this name now.
SELECT {u.User} FROM users u WHERE lower(u.username) = lower(%(name)s) AND u.deleted_at IS NULL;

-- name: user_to_log_in
-- The user with this name or address, and the hash of their password.
SELECT {u.UserWithPassword} FROM users u
 WHERE (lower(u.username) = lower(%(name)s)
        OR (u.email <> '' AND lower(u.email) = lower(%(name)s)))
   AND u.deleted_at IS NULL;

-- name: password_of
-- The hash of a user's password.
SELECT password_hash FROM users WHERE id = %(id)s AND deleted_at IS NULL;

-- name: users_page
-- A page of the users that match every word in name, username or address, in order of names, and
-- how many there are in all.
SELECT {u.CountedUser} FROM users u
 WHERE u.deleted_at IS NULL
   AND NOT EXISTS (SELECT FROM unnest(%(words)s::text[]) AS w
                    WHERE strpos(lower(u.username || ' ' || u.name || ' ' || u.email), w) = 0)
   AND (%(status)s::text IS NULL OR u.status = %(status)s)
   AND (%(role)s::text IS NULL OR u.roles @> ARRAY[%(role)s::text])
 ORDER BY lower(u.username), u.id LIMIT %(limit)s OFFSET %(offset)s;

-- name: count_users
-- How many match, where a page is behind the last of them.
SELECT count(*) FROM users u
 WHERE u.deleted_at IS NULL
   AND NOT EXISTS (SELECT FROM unnest(%(words)s::text[]) AS w
                    WHERE strpos(lower(u.username || ' ' || u.name || ' ' || u.email), w) = 0)
   AND (%(status)s::text IS NULL OR u.status = %(status)s)
   AND (%(role)s::text IS NULL OR u.roles @> ARRAY[%(role)s::text]);

-- name: add_user
-- Add a user, dormant until they come for the first time.
INSERT INTO users AS u (id, username, name, email, roles, password_hash, status)
VALUES (%(id)s, %(username)s, %(name)s, %(email)s, %(roles)s, %(password_hash)s, 'dormant')
RETURNING {u.User};

-- name: set_profile
-- Change the names and the picture of a user.
UPDATE users u
   SET username = %(username)s, name = %(name)s, avatar_url = %(avatar_url)s, updated_at = now()
 WHERE u.id = %(id)s AND u.deleted_at IS NULL
RETURNING {u.User};

-- name: set_password
-- With a new password the links to set one are void, and so are sessions, all but the one given.
WITH links AS (DELETE FROM invitations WHERE user_id = %(id)s),
     ended AS (UPDATE tokens SET revoked_at = now()
                WHERE user_id = %(id)s AND id <> %(but)s
                  AND kind = 'session' AND revoked_at IS NULL)
UPDATE users SET password_hash = %(password_hash)s, updated_at = now()
 WHERE id = %(id)s AND deleted_at IS NULL;

-- name: renew_password_hash
-- The same password at today's cost, unless it has been changed meanwhile.
UPDATE users SET password_hash = %(password_hash)s
 WHERE id = %(id)s AND password_hash = %(was)s;

-- name: set_roles
-- Set the roles of a user. The deployment is locked: the last admin stays one.
UPDATE users u SET roles = %(roles)s, updated_at = now()
 WHERE u.id = %(id)s AND u.deleted_at IS NULL
   AND (%(roles)s::text[] @> ARRAY['owner'] OR {another_admin})
RETURNING {u.User};

-- name: set_status
-- Set whether a user is let in. The deployment is locked: the last admin stays active.
UPDATE users u SET status = %(status)s, updated_at = now()
 WHERE u.id = %(id)s AND u.deleted_at IS NULL
   AND (%(status)s::text <> 'suspended' OR {another_admin})
RETURNING {u.User};

-- name: delete_user
-- Delete a user, with all that lets them in. The deployment is locked: the last admin stays.
WITH gone AS (UPDATE users u
                 SET deleted_at = now(), updated_at = now(), password_hash = NULL
               WHERE u.id = %(id)s AND u.deleted_at IS NULL AND {another_admin}
              RETURNING u.*),
     ended AS (DELETE FROM tokens WHERE user_id IN (SELECT id FROM gone)),
     links AS (DELETE FROM invitations WHERE user_id IN (SELECT id FROM gone))
SELECT {u.User} FROM gone u;
