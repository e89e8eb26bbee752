-- Servers of tools that speak MCP, who may use them, and what users were given to show there.
--
-- What is sealed can be read with the master key only.

CREATE TABLE mcp_servers (
    id          uuid PRIMARY KEY,
    slug        text NOT NULL UNIQUE,
    config      json NOT NULL,  -- all that may be shown
    sealed      bytea NOT NULL, -- all that may not
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now()
);

-- Whose chats may use it. The group is everybody.
CREATE TABLE mcp_server_readers (
    server_id   uuid NOT NULL REFERENCES mcp_servers ON DELETE CASCADE,
    subject_id  uuid NOT NULL, -- of a user or a group
    is_group    boolean NOT NULL,
    PRIMARY KEY (server_id, subject_id, is_group)
);

-- What a server's authorization server gave to a user of ours.
CREATE TABLE mcp_tokens (
    user_id     uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    server_id   uuid NOT NULL REFERENCES mcp_servers ON DELETE CASCADE,
    sealed      bytea NOT NULL,
    expires_at  timestamptz,               -- of what is shown; NULL: nobody has said
    failure     text NOT NULL DEFAULT '',  -- why it will never be renewed
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, server_id)
);

CREATE INDEX mcp_tokens_server ON mcp_tokens (server_id);
