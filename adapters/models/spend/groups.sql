-- Groups of users.

-- name: groups
-- All groups with the ids of their members, or those of `wanted`. The group of everyone, which has
-- no row, comes first; its members are not listed but counted.
SELECT d.organization_id, 'everyone', 'Everyone', '', '{}'::uuid[],
       (SELECT count(*) FROM users WHERE deleted_at IS NULL), d.created_at
  FROM deployment d
 WHERE %(wanted)s::uuid[] IS NULL OR d.organization_id = ANY(%(wanted)s)
UNION ALL
(SELECT g.id, g.name, g.display_name, g.avatar_url,
        coalesce(array_agg(u.id ORDER BY u.username) FILTER (WHERE u.id IS NOT NULL), '{}'),
        count(u.id), g.created_at
   FROM groups g
   LEFT JOIN group_members m ON m.group_id = g.id
   LEFT JOIN users u ON u.id = m.user_id AND u.deleted_at IS NULL
  WHERE %(wanted)s::uuid[] IS NULL OR g.id = ANY(%(wanted)s)
  GROUP BY g.id
  ORDER BY lower(g.name));

-- name: group_users
-- The members of a group as they are shown.
SELECT id, username, name, email, avatar_url, status, last_seen_at, created_at, updated_at
  FROM users
 WHERE deleted_at IS NULL
   AND (%(group)s = (SELECT organization_id FROM deployment)
        OR id IN (SELECT user_id FROM group_members WHERE group_id = %(group)s))
 ORDER BY username
 LIMIT %(most)s;

-- name: is_group_member
-- Whether a user belongs to a group.
SELECT EXISTS (SELECT FROM group_members WHERE group_id = %(group)s AND user_id = %(user)s)
    OR %(group)s = (SELECT organization_id FROM deployment);

-- name: lock_groups
-- Make and change groups one after another, so that their limit holds; 47687 is "group" on a
-- telephone's keys.
SELECT pg_advisory_xact_lock(47687);

-- name: add_group
-- Add a group; nothing comes back if the name is taken or there are too many.
INSERT INTO groups (id, name, display_name, avatar_url)
SELECT %(id)s, %(name)s, %(display_name)s, %(avatar_url)s
 WHERE (SELECT count(*) FROM groups) < %(most)s
   AND NOT EXISTS (SELECT FROM groups WHERE lower(name) = lower(%(name)s))
RETURNING id;

-- name: change_group
-- Rename a group; nothing comes back if it is gone, or another has the name.
UPDATE groups
   SET name = %(name)s, display_name = %(display_name)s, avatar_url = %(avatar_url)s
 WHERE id = %(id)s
   AND NOT EXISTS (SELECT FROM groups WHERE lower(name) = lower(%(name)s) AND id <> %(id)s)
RETURNING id;

-- name: add_members
-- Add users to a group; those that are not there, or in it already, are passed over.
INSERT INTO group_members (user_id, group_id)
SELECT u.id, g.id
  FROM users u, groups g
 WHERE u.id = ANY(%(users)s) AND u.deleted_at IS NULL AND g.id = %(id)s
ON CONFLICT DO NOTHING;

-- name: drop_members
-- Remove users from a group, and limits of theirs that are counted for it.
WITH dropped AS (
    DELETE FROM group_members WHERE group_id = %(id)s AND user_id = ANY(%(users)s)
    RETURNING user_id
)
DELETE FROM spend_limits
 WHERE scope = 'user' AND group_id = %(id)s AND subject_id IN (SELECT user_id FROM dropped);

-- name: remove_group
-- Remove a group with its limits, and those of members that were counted for it.
WITH gone AS (
    DELETE FROM groups WHERE id = %(id)s RETURNING id
), limits AS (
    DELETE FROM spend_limits
     WHERE (scope = 'group' AND subject_id = %(id)s) OR (scope = 'user' AND group_id = %(id)s)
)
SELECT id FROM gone;
