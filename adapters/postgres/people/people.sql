-- Users and their tokens.

-- part: user
-- What is known of a user, in the order of `user.User`.
u.id, u.username, u.name, u.email, u.avatar_url, u.roles, u.status, u.created_at, u.updated_at,
u.last_seen_at, u.deleted_at IS NOT NULL

-- name: token_of_hash
-- Whose token this is, if it is good: the user, and for how many more seconds.
SELECT t.id, t.kind, t.scopes, extract(epoch FROM t.expires_at - now())::float8, {user}
  FROM tokens t JOIN users u ON u.id = t.user_id
 WHERE t.hash = %(hash)s
   AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
   AND u.status <> 'suspended' AND u.deleted_at IS NULL;

-- name: token_of_id
-- The same, for who was shown the token before.
SELECT t.id, t.kind, t.scopes, extract(epoch FROM t.expires_at - now())::float8, {user}
  FROM tokens t JOIN users u ON u.id = t.user_id
 WHERE t.id = %(id)s
   AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
   AND u.status <> 'suspended' AND u.deleted_at IS NULL;

