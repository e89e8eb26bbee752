-- Settings by name, and the skills that users keep.

-- name: put_setting
-- Set a value for the deployment.
INSERT INTO settings (name, value) VALUES (%(name)s, %(value)s)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now();

-- name: put_own_setting
-- Set a value for a user.
INSERT INTO user_settings (user_id, name, value) VALUES (%(user)s, %(name)s, %(value)s)
    ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value, updated_at = now();

-- name: drop_own_setting
-- Remove a user's own value, so that the deployment's holds again.
DELETE FROM user_settings WHERE user_id = %(user)s AND name = %(name)s;

-- name: skills
-- The skills of a user, without their contents.
SELECT id, name, description, created_at, updated_at
  FROM user_skills WHERE user_id = %(user)s ORDER BY name;

-- name: skill
-- One skill, with its contents.
SELECT id, name, description, created_at, updated_at, content
  FROM user_skills WHERE user_id = %(user)s AND name = %(name)s;

-- name: lock_skills
-- Lock the skills of a user, so that their limit holds; 75455 is "skill" on a telephone's keys.
SELECT pg_advisory_xact_lock(75455, hashtext(%(user)s::text));

-- name: add_skill
-- Add a skill, if there is room. The answer says whether there was one of this name; the times are
-- null if there was, or if there were too many.
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
-- Rewrite a skill under its name; nothing comes back if there is none.
UPDATE user_skills SET description = %(description)s, content = %(content)s, updated_at = now()
 WHERE user_id = %(user)s AND name = %(name)s
RETURNING id, name, description, created_at, updated_at, content;

-- name: remove_skill
-- Remove a skill; nothing comes back if there is none.
DELETE FROM user_skills WHERE user_id = %(user)s AND name = %(name)s RETURNING id;
