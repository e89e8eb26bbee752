-- Housekeeping: which process does it, what may not be erased, and what was.

-- One row: the process that does it now, and how the last pass went. `upgraded_at`: when a database
-- that is older than this step took it; nothing of it is erased until an admin sets for how long
-- things are kept. `former` has what had been set before, when it had no effect.
CREATE TABLE housekeeping (
    is_one      boolean PRIMARY KEY DEFAULT true CHECK (is_one),
    holder      uuid, -- null: no process is at it
    epoch       bigint NOT NULL DEFAULT 0, -- grows with each holder: what a batch is fenced by
    beat_at     timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz, -- of the last pass
    report      json,        -- what it removed
    upgraded_at timestamptz,
    former      json
);

INSERT INTO housekeeping (upgraded_at, former)
SELECT CASE WHEN EXISTS (SELECT FROM users) THEN now() END,
       (SELECT json_object_agg(name, value) FROM settings
         WHERE name IN ('retention_days', 'debug_retention_days'));

-- In a new database nothing is set, and the defaults hold.
INSERT INTO settings (name, value)
SELECT kept.name, '0'
  FROM (VALUES ('retention_days'), ('debug_retention_days')) AS kept (name)
 WHERE EXISTS (SELECT FROM users)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now();

-- Families of chats, and users, of whose chats and files nothing is erased.
CREATE TABLE legal_holds (
    id       uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    root_id  uuid UNIQUE REFERENCES chats ON DELETE RESTRICT,
    user_id  uuid UNIQUE REFERENCES users ON DELETE RESTRICT,
    reason   text NOT NULL CHECK (reason <> ''),
    set_by   uuid NOT NULL REFERENCES users,
    set_at   timestamptz NOT NULL DEFAULT now(),
    CHECK ((root_id IS NULL) <> (user_id IS NULL))
);

-- What was erased: never what was in it. The chats of an erasure that has no end are being erased
-- and are shown to nobody. No references: what they name is gone.
CREATE TABLE erasures (
    id          uuid PRIMARY KEY,
    why         text NOT NULL CHECK (why IN ('retention', 'chat', 'user')),
    root_id     uuid,          -- of the family; null: all that a user had
    owner_id    uuid NOT NULL,
    request_id  uuid,          -- of the user's erasure that this one belongs to
    asked_by    uuid,          -- null: the rule did
    begun_at    timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz,
    chats       bigint NOT NULL DEFAULT 0,
    messages    bigint NOT NULL DEFAULT 0,
    files       bigint NOT NULL DEFAULT 0,
    workspaces  bigint NOT NULL DEFAULT 0,
    other_rows  bigint NOT NULL DEFAULT 0, -- in all other tables
    bytes       bigint NOT NULL DEFAULT 0, -- of messages and files, as they were stored
    CHECK ((root_id IS NULL) <= (why = 'user'))
);

CREATE UNIQUE INDEX erasures_open ON erasures (root_id) WHERE ended_at IS NULL;
CREATE INDEX erasures_request ON erasures (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX erasures_age ON erasures (begun_at);

-- When a root goes, its family is found without a look at all chats. No key of these indexes changes
-- while a chat lives, so chats are still written in place.
CREATE INDEX chats_root ON chats (root_id) WHERE root_id IS NOT NULL;
CREATE INDEX chats_archived ON chats (id) WHERE archived AND root_id IS NULL;
CREATE INDEX files_age ON files (created_at);
