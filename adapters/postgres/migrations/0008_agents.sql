-- What a chat was spawned for, and where it works.

ALTER TABLE chats
    ADD COLUMN mode text NOT NULL DEFAULT '' CHECK (mode IN ('', 'explore', 'computer_use')),
    ADD COLUMN workspace_id uuid; -- no reference: what was worked in may be gone
