-- The branches that chats work on with what their forge says of them, and the tokens of users there.

CREATE TABLE forge_tokens (
    user_id        uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    host           text NOT NULL,             -- of the forge, as in the setting
    sealed         bytea NOT NULL,
    failure        text NOT NULL DEFAULT '',  -- why the forge does not take it
    delayed_until  timestamptz,               -- the forge asks for so long not to be asked
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, host)
);

CREATE TABLE diff_statuses (
    chat_id        uuid PRIMARY KEY REFERENCES chats ON DELETE CASCADE,
    remote_origin  text NOT NULL,             -- without user and password
    branch         text NOT NULL,
    host           text,                      -- of its forge; NULL: the origin is at none that is known
    path           text,                      -- of the repository there
    pull_request   jsonb,                     -- NULL: none was found
    noted_at       timestamptz NOT NULL DEFAULT now(),  -- when the chat worked there last
    pushed_at      timestamptz,
    refreshed_at   timestamptz,
    stale_at       timestamptz,               -- when the forge is asked again; NULL: not until it is noted
    claim          uuid,                      -- of the process that asks it now
    claimed_until  timestamptz
);

CREATE INDEX diff_statuses_stale ON diff_statuses (stale_at) WHERE stale_at IS NOT NULL;
