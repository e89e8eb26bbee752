-- Tokens and links: what lets people in.

-- part: good
-- Whether a token `t` lets its user `u` in.
t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
AND u.status <> 'suspended' AND u.deleted_at IS NULL

-- column: ListedToken.username
-- The name of its user.
u.username

-- column: GoodToken.token
-- The id of the token.
t.id

-- column: GoodToken.kind
-- What it is for.
t.kind

-- column: GoodToken.scopes
-- What it is good for.
t.scopes

-- column: GoodToken.seconds
-- For how many more seconds it is good.
extract(epoch FROM t.expires_at - now())::float8

-- name: token_of_hash
-- The user of a token, if it is good, and for how many more seconds.
SELECT {u.GoodToken}
  FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.hash = %(hash)s AND {good};

-- name: token_of_id
-- The same by the id of the token, which was shown before.
SELECT {u.GoodToken}
  FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.id = %(id)s AND {good};

-- name: tokens_page
-- Tokens of one kind that are not revoked, the newest first: of a user, or of all.
SELECT {t.ListedToken} FROM tokens t JOIN users u ON u.id = t.user_id
 WHERE (%(user)s::uuid IS NULL OR t.user_id = %(user)s)
   AND t.kind = %(kind)s::text AND t.revoked_at IS NULL
   AND (%(expired)s::boolean OR t.expires_at IS NULL OR t.expires_at > now())
 ORDER BY t.created_at DESC, t.id LIMIT %(limit)s;

-- name: token_of_user
-- A token of this user, by its id or by its name.
SELECT {t.ListedToken} FROM tokens t JOIN users u ON u.id = t.user_id
 WHERE t.user_id = %(user)s AND t.revoked_at IS NULL
   AND (t.id = %(key)s OR (t.kind = 'personal' AND t.name = %(key)s))
 ORDER BY t.id = %(key)s DESC LIMIT 1;

-- name: add_token
-- Add a token. Only its user gets the secret. Of personal ones a user may have so many.
INSERT INTO tokens (id, user_id, hash, kind, name, scopes, expires_at)
SELECT %(id)s::text, %(user)s::uuid, %(hash)s::bytea, %(kind)s::text, %(name)s::text,
       %(scopes)s::text[], now() + %(seconds)s::float8 * interval '1 second'
 WHERE %(kind)s <> 'personal'
    OR (SELECT count(*) FROM tokens t
         WHERE t.user_id = %(user)s AND t.kind = 'personal' AND t.revoked_at IS NULL)
       < %(personal_max)s
RETURNING id;

-- name: end_surplus_sessions
-- End the oldest sessions of a user who logs in again and again.
UPDATE tokens SET revoked_at = now()
 WHERE id IN (SELECT id FROM tokens
               WHERE user_id = %(user)s AND kind = 'session' AND revoked_at IS NULL
               ORDER BY created_at DESC OFFSET %(sessions_max)s);

-- name: revoke_token
-- Revoke a token. One that the configuration sets is only taken away by the configuration.
UPDATE tokens SET revoked_at = now()
 WHERE id = %(id)s AND user_id = %(user)s AND revoked_at IS NULL AND kind <> 'configured'
RETURNING id;

-- name: expire_token
-- Let a token end now, if it has not ended. One that the configuration sets stays.
UPDATE tokens SET expires_at = least(expires_at, now())
 WHERE id = %(id)s AND user_id = %(user)s AND revoked_at IS NULL AND kind <> 'configured'
RETURNING id;

-- name: note_use
-- Note that tokens were used: sessions go on within their bound, and dormant users become active.
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
-- Delete tokens that ended long ago.
WITH gone AS (
    DELETE FROM tokens WHERE id IN (
        SELECT id FROM tokens
         WHERE least(revoked_at, expires_at) < now() - %(seconds)s::float8 * interval '1 second'
         LIMIT %(most)s)
    RETURNING 1
)
SELECT count(*), 0::bigint FROM gone;

-- name: count_old_tokens
-- How many of them there are.
SELECT count(*) FROM tokens
 WHERE least(revoked_at, expires_at) < now() - %(seconds)s::float8 * interval '1 second';

-- name: sweep_invitations
-- Delete links that are too old.
WITH gone AS (
    DELETE FROM invitations WHERE hash IN (
        SELECT hash FROM invitations
         WHERE expires_at < now() - %(seconds)s::float8 * interval '1 second' LIMIT %(most)s)
    RETURNING 1
)
SELECT count(*), 0::bigint FROM gone;

-- name: count_old_invitations
-- How many of them there are.
SELECT count(*) FROM invitations
 WHERE expires_at < now() - %(seconds)s::float8 * interval '1 second';

-- name: add_invitation
-- Add a link for a user.
INSERT INTO invitations (hash, user_id, expires_at)
VALUES (%(hash)s, %(user)s, now() + %(seconds)s::float8 * interval '1 second')
RETURNING expires_at;

-- name: end_surplus_invitations
-- Delete all but the newest links of a user.
DELETE FROM invitations
 WHERE hash IN (SELECT hash FROM invitations WHERE user_id = %(user)s
                 ORDER BY created_at DESC OFFSET %(links_max)s);

-- name: invited
-- The user of a link, if it is good.
SELECT {u.User} FROM invitations i JOIN users u ON u.id = i.user_id
 WHERE i.hash = %(hash)s AND i.expires_at > now()
   AND u.status <> 'suspended' AND u.deleted_at IS NULL;

-- name: take_invitation
-- Use up a link, and with it all others of its user: set their password, and end their sessions.
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
RETURNING {u.User};
