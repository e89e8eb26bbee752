-- What stands in a workspace for the agents that work in it, as each chat has it: from the moment
-- when it was given the workspace, or when somebody asked for a newer look.

CREATE TABLE chat_contexts (
    chat_id       uuid PRIMARY KEY REFERENCES chats ON DELETE CASCADE,
    workspace_id  uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    digest        bytea,       -- null: it could not be looked at yet, and `error` says why
    snapshot      bytea,       -- JSON; bytes, because it is never looked into here
    pinned_at     timestamptz,
    dirty_since   timestamptz, -- the files have moved on
    error         text         -- why the workspace could not be looked at, last time
);

CREATE INDEX chat_contexts_workspace ON chat_contexts (workspace_id);
