-- How long a workspace is kept, and how large it may become.

ALTER TABLE workspaces
    ADD COLUMN disk_mb integer NOT NULL DEFAULT 10240,
    ADD COLUMN used_at timestamptz NOT NULL DEFAULT now(), -- by a tool, give or take half a minute
    ADD COLUMN removed_at timestamptz; -- its directory may still be somewhere

CREATE INDEX chats_workspace ON chats (workspace_id) WHERE workspace_id IS NOT NULL;
