-- What was bought for a chat without becoming a message of it: titles, labels and summaries of lists,
-- advice, summaries of a conversation that came to nothing. Added up, so that a chat has few rows.
CREATE TABLE side_costs (
    chat_id   uuid NOT NULL REFERENCES chats ON DELETE CASCADE,
    what      text NOT NULL,
    micros    bigint NOT NULL, -- millionths of a US dollar, as far as they are known
    requests  bigint NOT NULL,
    unpriced  bigint NOT NULL, -- requests among them of which nobody knows what they cost
    PRIMARY KEY (chat_id, what)
);
