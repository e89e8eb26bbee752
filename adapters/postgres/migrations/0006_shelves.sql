-- Chats as their users keep them: read, shared, found; what is in files; requests served once.

ALTER TABLE chats
    ADD COLUMN summary               text,
    ADD COLUMN last_turn_summary     text,
    ADD COLUMN last_read_message_id  bigint NOT NULL DEFAULT 0; -- by the owner

-- Who reads what is not his: a root is shared, and its children with it. The group is everybody.
CREATE TABLE chat_readers (
    chat_id     uuid NOT NULL REFERENCES chats ON DELETE CASCADE,
    subject_id  uuid NOT NULL, -- of a user or a group
    is_group    boolean NOT NULL,
    shared_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (chat_id, subject_id, is_group)
);

CREATE INDEX chat_readers_subject ON chat_readers (subject_id, chat_id);
CREATE INDEX chat_readers_group ON chat_readers (chat_id) WHERE is_group;

-- Beside the facts of a file, which are read far more often. Most media are compressed already.
CREATE TABLE file_contents (
    file_id  uuid PRIMARY KEY REFERENCES files ON DELETE CASCADE,
    bytes    bytea NOT NULL,
    sha256   bytea NOT NULL CHECK (length(sha256) = 32)
);

ALTER TABLE file_contents ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- A request that its sender named, and what it made: written with it, in one transaction. The
-- answer is noted when it is given; until then it is made again from what is stored.
CREATE TABLE receipts (
    user_id      uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    key          text NOT NULL,
    request      bytea NOT NULL, -- a digest of it
    chat_id      uuid NOT NULL REFERENCES chats ON DELETE CASCADE,
    message_ids  bigint[],
    queued_ids   bigint[],
    status       smallint,
    answer       bytea,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, key),
    CHECK ((status IS NULL) = (answer IS NULL))
);

CREATE INDEX receipts_age ON receipts (created_at);
CREATE INDEX receipts_chat ON receipts (chat_id);

-- What users and models said, as words. A chat's words are brought up to its history when somebody
-- searches: no commit waits for them (an index on the messages themselves would make a step's commit
-- more than twice as dear), and who never searches pays nothing.
CREATE TABLE message_words (
    message_id  bigint PRIMARY KEY REFERENCES messages ON DELETE CASCADE,
    chat_id     uuid NOT NULL REFERENCES chats ON DELETE CASCADE,
    words       tsvector NOT NULL
);

CREATE INDEX message_words_chat ON message_words (chat_id);
CREATE INDEX message_words_words ON message_words USING gin (words);

CREATE TABLE chat_words (
    chat_id          uuid PRIMARY KEY REFERENCES chats ON DELETE CASCADE,
    history_version  bigint NOT NULL -- up to which its words are there
);
