-- Where chats work. `chats.workspace_id` says which chat in which; a child works where its root does.

CREATE TABLE workspaces (
    id          uuid PRIMARY KEY,
    owner_id    uuid NOT NULL REFERENCES users,
    name        text NOT NULL,
    template    text NOT NULL, -- what it was made of, which may be gone
    memory_mb   integer NOT NULL,
    file_mb     integer NOT NULL,
    processes   integer NOT NULL,
    seconds     integer NOT NULL,
    is_set_up   boolean NOT NULL DEFAULT false, -- its command for that has run to its end
    is_stopped  boolean NOT NULL DEFAULT false,
    started_at  timestamptz NOT NULL DEFAULT now(),
    created_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (owner_id, name)
);

CREATE INDEX workspaces_started ON workspaces (started_at);
