-- People: who they are, how they show it, and the one deployment that they belong to.
--
-- A secret is never stored: of tokens and links there is the SHA-256 (they are random, and long), of
-- passwords what argon2 makes of them.

ALTER TABLE users
    ADD COLUMN name           text NOT NULL DEFAULT '',
    ADD COLUMN email          text NOT NULL DEFAULT '',
    ADD COLUMN avatar_url     text NOT NULL DEFAULT '',
    ADD COLUMN roles          text[] NOT NULL DEFAULT '{}' CHECK (roles <@ '{owner}'), -- all are members
    ADD COLUMN status         text NOT NULL DEFAULT 'active'
                              CHECK (status IN ('active', 'dormant', 'suspended')),
    ADD COLUMN password_hash  text, -- null: cannot log in with a password
    ADD COLUMN last_seen_at   timestamptz, -- null: never
    ADD COLUMN updated_at     timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN deleted_at     timestamptz; -- the row stays: chats and messages name it

-- Names and addresses are free again when their user is deleted.
ALTER TABLE users DROP CONSTRAINT users_username_key;
CREATE UNIQUE INDEX users_username ON users (lower(username)) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX users_email ON users (lower(email)) WHERE email <> '' AND deleted_at IS NULL;
CREATE INDEX users_owners ON users (id) WHERE roles @> '{owner}';

CREATE TABLE tokens (
    id            text PRIMARY KEY CHECK (length(id) = 10),
    user_id       uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    hash          bytea NOT NULL UNIQUE CHECK (length(hash) = 32), -- of the whole token
    kind          text NOT NULL CHECK (kind IN ('personal', 'session', 'configured')),
    name          text NOT NULL DEFAULT '',
    scopes        text[] NOT NULL DEFAULT '{all}',
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz, -- null: never
    last_used_at  timestamptz, -- to the minute
    revoked_at    timestamptz
);

CREATE INDEX tokens_user ON tokens (user_id, created_at);
CREATE UNIQUE INDEX tokens_name ON tokens (user_id, name)
    WHERE kind = 'personal' AND revoked_at IS NULL;
-- The one that the configuration of the daemon sets.
CREATE UNIQUE INDEX tokens_configured ON tokens (name)
    WHERE kind = 'configured' AND revoked_at IS NULL;

-- Links with which somebody sets his password, once. The row goes with its use.
CREATE TABLE invitations (
    hash        bytea PRIMARY KEY CHECK (length(hash) = 32),
    user_id     uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL
);

CREATE INDEX invitations_user ON invitations (user_id);

-- One row, which is also the lock for what there may be only one of (the first admin), or must be
-- one of always (the last).
CREATE TABLE deployment (
    is_one           boolean PRIMARY KEY DEFAULT true CHECK (is_one),
    id               uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id  uuid NOT NULL DEFAULT gen_random_uuid(),
    first_admin_id   uuid REFERENCES users ON DELETE SET NULL,
    created_at       timestamptz NOT NULL DEFAULT now()
);

INSERT INTO deployment DEFAULT VALUES;
