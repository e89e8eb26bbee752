"""Chats with more messages than anybody would wait for: those of a short one, over and over."""

import psycopg

# The guards of the table look at what programs of ours write; this is none.
COPIES = """
INSERT INTO messages (chat_id, role, content, content_version, visibility, revision, created_by,
    model_config_id, input_tokens, output_tokens, total_tokens, context_limit, runtime_ms,
    cost_micros, cost_source, created_at)
SELECT chat_id, role, replace(content::text, 'number 0', 'number ' || copy)::json,
    content_version, visibility, revision, created_by, model_config_id, input_tokens,
    output_tokens, total_tokens, context_limit, runtime_ms, cost_micros, cost_source, created_at
FROM messages, generate_series(1, %(copies)s) AS copy
WHERE chat_id = %(chat)s AND NOT deleted AND role IN ('user', 'assistant')
ORDER BY copy, id
"""


def lengthen(database, chat, copies):
    """Say everything in a chat so many times more; `number 0` in it counts."""
    with psycopg.connect(database) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(COPIES, {"chat": chat, "copies": copies})
