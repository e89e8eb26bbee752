-- Records of model calls, for users who have switched them on. A run has the steps of one turn, or one
-- call beside it (a title, a label, a summary); a step has what was asked, what came back, and each
-- exchange with the provider, all without secrets. They go with their chat.
CREATE TABLE debug_runs (
    id                      uuid PRIMARY KEY,
    chat_id                 uuid NOT NULL REFERENCES chats ON DELETE CASCADE,
    root_chat_id            uuid,
    parent_chat_id          uuid,
    model_config_id         uuid,
    trigger_message_id      bigint, -- what was answered
    history_tip_message_id  bigint, -- the last message by then
    kind                    text NOT NULL
        CHECK (kind IN ('chat_turn', 'title_generation', 'quickgen', 'compaction')),
    status                  text NOT NULL DEFAULT 'in_progress'
        CHECK (status IN ('in_progress', 'completed', 'error', 'interrupted')),
    provider                text NOT NULL,
    model                   text NOT NULL,
    first_message           text NOT NULL,
    started_at              timestamptz NOT NULL DEFAULT now(),
    updated_at              timestamptz NOT NULL DEFAULT now(),
    finished_at             timestamptz
);

CREATE INDEX debug_runs_of_chat ON debug_runs (chat_id, started_at DESC);
CREATE INDEX debug_runs_by_age ON debug_runs (started_at);
CREATE INDEX debug_runs_open ON debug_runs (updated_at) WHERE status = 'in_progress';

CREATE TABLE debug_steps (
    id                      uuid PRIMARY KEY,
    run_id                  uuid NOT NULL REFERENCES debug_runs ON DELETE CASCADE,
    chat_id                 uuid NOT NULL,
    step_number             integer NOT NULL,
    operation               text NOT NULL CHECK (operation IN ('stream', 'generate')),
    status                  text NOT NULL DEFAULT 'in_progress'
        CHECK (status IN ('in_progress', 'completed', 'error', 'interrupted')),
    history_tip_message_id  bigint,
    assistant_message_id    bigint,
    normalized_request      json NOT NULL,
    normalized_response     json,
    usage                   jsonb,
    attempts                jsonb NOT NULL DEFAULT '[]',
    error                   json,
    metadata                jsonb NOT NULL DEFAULT '{}',
    endpoint                text, -- method and path of the first exchange that was completed
    started_at              timestamptz NOT NULL DEFAULT now(),
    updated_at              timestamptz NOT NULL DEFAULT now(),
    finished_at             timestamptz,
    UNIQUE (run_id, step_number)
);
