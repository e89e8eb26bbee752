-- Rules of consent that are not in the settings: the deployment's, and those of users for their own
-- chats. Who may change them, and which of them counts, is decided by the program.

CREATE TABLE approval_rules (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id     uuid REFERENCES users ON DELETE CASCADE, -- NULL: the deployment's
    subject     text NOT NULL, -- a tool, or a tool with brackets: execute(git status *)
    policy      text NOT NULL CHECK (policy IN ('allow', 'ask', 'deny')),
    changed_by  uuid REFERENCES users ON DELETE SET NULL,
    changed_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (user_id, subject)
);
