-- What is set, by name; and the skills that users keep.

-- name: put_setting
-- For the deployment.
INSERT INTO settings (name, value) VALUES (%(name)s, %(value)s)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now();

-- name: put_own_setting
-- For a user.
INSERT INTO user_settings (user_id, name, value) VALUES (%(user)s, %(name)s, %(value)s)
    ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value, updated_at = now();

-- name: drop_own_setting
-- What holds for everybody holds for this user again.
DELETE FROM user_settings WHERE user_id = %(user)s AND name = %(name)s;

-- name: skills
-- Of a user, without what is in them.
SELECT id, name, description, created_at, updated_at
  FROM user_skills WHERE user_id = %(user)s ORDER BY name;

-- name: skill
-- One, whole.
SELECT id, name, description, created_at, updated_at, content
  FROM user_skills WHERE user_id = %(user)s AND name = %(name)s;

-- name: lock_skills
-- Of one user, so that their number holds; 75455 is "skill" on a telephone's keys.
SELECT pg_advisory_xact_lock(75455, hashtext(%(user)s::text));

-- name: add_skill
-- One more, if there is room. What comes back first: whether there was one of this name, and
-- whether they were too many; the row only if neither.
WITH had AS (
    SELECT count(*) AS number, coalesce(bool_or(name = %(name)s), false) AS has_it
      FROM user_skills WHERE user_id = %(user)s
), added AS (
    INSERT INTO user_skills (id, user_id, name, description, content)
    SELECT %(id)s, %(user)s, %(name)s, %(description)s, %(content)s
      FROM had WHERE NOT has_it AND number < %(most)s
    RETURNING created_at, updated_at
)
SELECT had.has_it, added.created_at, added.updated_at FROM had LEFT JOIN added ON true;

-- name: change_skill
-- Under the name it has; nothing comes back if there is none.
UPDATE user_skills SET description = %(description)s, content = %(content)s, updated_at = now()
 WHERE user_id = %(user)s AND name = %(name)s
RETURNING id, name, description, created_at, updated_at, content;

-- name: remove_skill
-- Nothing comes back if there is none.
DELETE FROM user_skills WHERE user_id = %(user)s AND name = %(name)s RETURNING id;
