-- Tokens and links: what lets people in.

-- part: good
-- A token that lets its user in.
t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
AND u.status <> 'suspended' AND u.deleted_at IS NULL

-- part: token
-- What is shown of a token, in the order of `tokens.Token`.
t.id, t.user_id, u.username, t.kind, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at

-- name: token_of_hash
-- Whose token this is, if it is good: the user, and for how many more seconds.
SELECT t.id, t.kind, t.scopes, extract(epoch FROM t.expires_at - now())::float8, {user}
  FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.hash = %(hash)s AND {good};

-- name: token_of_id
-- The same, for who was shown the token before.
SELECT t.id, t.kind, t.scopes, extract(epoch FROM t.expires_at - now())::float8, {user}
  FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.id = %(id)s AND {good};

-- name: tokens_page
-- Personal tokens that are not revoked, the newest first: of a user, or of all.
SELECT {token} FROM tokens t JOIN users u ON u.id = t.user_id
 WHERE (%(user)s::uuid IS NULL OR t.user_id = %(user)s)
   AND t.kind = 'personal' AND t.revoked_at IS NULL
   AND (%(expired)s::boolean OR t.expires_at IS NULL OR t.expires_at > now())
 ORDER BY t.created_at DESC, t.id LIMIT %(limit)s;

-- name: token_of_user
-- A token of this user, by its id or by its name.
SELECT {token} FROM tokens t JOIN users u ON u.id = t.user_id
 WHERE t.user_id = %(user)s AND t.revoked_at IS NULL
   AND (t.id = %(key)s OR (t.kind = 'personal' AND t.name = %(key)s))
 ORDER BY t.id = %(key)s DESC LIMIT 1;

-- name: add_token
-- Only who asked for it knows the secret. Of personal ones there is a number that is enough.
INSERT INTO tokens (id, user_id, hash, kind, name, scopes, expires_at)
SELECT %(id)s::text, %(user)s::uuid, %(hash)s::bytea, %(kind)s::text, %(name)s::text,
       %(scopes)s::text[], now() + %(seconds)s::float8 * interval '1 second'
 WHERE %(kind)s <> 'personal'
    OR (SELECT count(*) FROM tokens t
         WHERE t.user_id = %(user)s AND t.kind = 'personal' AND t.revoked_at IS NULL)
       < %(personal_max)s
RETURNING id;

-- name: end_surplus_sessions
-- The oldest sessions of who logs in again and again end.
UPDATE tokens SET revoked_at = now()
 WHERE id IN (SELECT id FROM tokens
               WHERE user_id = %(user)s AND kind = 'session' AND revoked_at IS NULL
               ORDER BY created_at DESC OFFSET %(sessions_max)s);

-- name: revoke_token
-- It lets nobody in any more. What the configuration sets, only the configuration takes away.
UPDATE tokens SET revoked_at = now()
 WHERE id = %(id)s AND user_id = %(user)s AND revoked_at IS NULL AND kind <> 'configured'
RETURNING id;

-- name: note_use
-- These tokens were used. A session that is used goes on, within its bound; who was dormant is not.
WITH used AS (
    UPDATE tokens t
       SET last_used_at = now(),
           expires_at = CASE WHEN t.kind = 'session'
               THEN least(t.created_at + %(life_seconds)s::float8 * interval '1 second',
                          now() + %(idle_seconds)s::float8 * interval '1 second')
               ELSE t.expires_at END
     WHERE t.id = ANY(%(ids)s) AND t.revoked_at IS NULL
       AND (t.expires_at IS NULL OR t.expires_at > now())
    RETURNING t.user_id)
UPDATE users SET last_seen_at = now(),
       status = CASE WHEN status = 'dormant' THEN 'active' ELSE status END
 WHERE id IN (SELECT user_id FROM used);

-- name: sweep_tokens
-- What lets nobody in has been kept long enough to be asked about.
DELETE FROM tokens
 WHERE least(revoked_at, expires_at) < now() - %(seconds)s::float8 * interval '1 second';

-- name: sweep_invitations
-- Links that are too old.
DELETE FROM invitations WHERE expires_at < now();

-- name: add_invitation
-- A link more for this user.
INSERT INTO invitations (hash, user_id, expires_at)
VALUES (%(hash)s, %(user)s, now() + %(seconds)s::float8 * interval '1 second')
RETURNING expires_at;

-- name: end_surplus_invitations
-- Of the links of a user only the newest are good.
DELETE FROM invitations
 WHERE hash IN (SELECT hash FROM invitations WHERE user_id = %(user)s
                 ORDER BY created_at DESC OFFSET %(links_max)s);

-- name: invited
-- Whom a link is for, if it is good.
SELECT {user} FROM invitations i JOIN users u ON u.id = i.user_id
 WHERE i.hash = %(hash)s AND i.expires_at > now()
   AND u.status <> 'suspended' AND u.deleted_at IS NULL;

-- name: take_invitation
-- The link is used up, and with it all others of its user; his password is set; sessions end.
WITH used AS (DELETE FROM invitations i USING users u
               WHERE i.hash = %(hash)s AND i.expires_at > now() AND u.id = i.user_id
                 AND u.status <> 'suspended' AND u.deleted_at IS NULL
              RETURNING i.user_id),
     links AS (DELETE FROM invitations
                WHERE user_id IN (SELECT user_id FROM used) AND hash <> %(hash)s),
     ended AS (UPDATE tokens SET revoked_at = now()
                WHERE user_id IN (SELECT user_id FROM used)
                  AND kind = 'session' AND revoked_at IS NULL)
UPDATE users u
   SET password_hash = %(password_hash)s, status = 'active', last_seen_at = now(), updated_at = now()
  FROM used WHERE u.id = used.user_id
RETURNING {user};
