-- Attempts that the provider failed, and attempts that ended with their process, since the last step
-- was committed: each has a budget of its own. `generation_attempt` counts all attempts, and is what
-- an attempt's writes are fenced by.

ALTER TABLE chats
    ADD COLUMN provider_failures_count integer NOT NULL DEFAULT 0
        CHECK (provider_failures_count >= 0),
    ADD COLUMN process_deaths_count integer NOT NULL DEFAULT 0 CHECK (process_deaths_count >= 0);
