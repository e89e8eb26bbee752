-- The journal of local tool calls: what survives a crash in the middle of a batch. A call that
-- has ended is never run again; of one that had only begun the next process knows that it may
-- have run. The history version names the batch: ids of calls may come again in later steps.
-- Rows are of no use once the step is committed, and go with their chat.

CREATE TABLE tool_calls (
    chat_id          uuid NOT NULL REFERENCES chats ON DELETE CASCADE,
    history_version  bigint NOT NULL,
    tool_call_id     text NOT NULL,
    name             text NOT NULL,
    begun_at         timestamptz NOT NULL DEFAULT now(),
    ended_at         timestamptz,
    output           json,
    PRIMARY KEY (chat_id, history_version, tool_call_id),
    CHECK ((ended_at IS NULL) = (output IS NULL))
);
