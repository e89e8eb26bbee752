-- Requests that their senders have named. They are kept with what they did: see `keep_receipt`.

-- name: receipt
-- What came of the request of this name; nothing if it has not been served.
SELECT request, chat_id, message_ids, queued_ids, status, answer
  FROM receipts
 WHERE user_id = %(user)s AND key = %(key)s;

-- name: answer_receipt
-- What was answered. The first word stands.
UPDATE receipts SET status = %(status)s, answer = %(answer)s
 WHERE user_id = %(user)s AND key = %(key)s AND status IS NULL;

-- name: forget_receipts
-- Drop those that nobody will ask for again.
WITH gone AS (
    DELETE FROM receipts WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM receipts
         WHERE created_at < now() - %(seconds)s::float8 * interval '1 second'
         ORDER BY created_at LIMIT %(most)s))
    RETURNING coalesce(length(answer), 0) AS size
)
SELECT count(*), coalesce(sum(size), 0)::bigint FROM gone;

-- name: count_old_receipts
-- How many of them there are.
SELECT count(*) FROM receipts
 WHERE created_at < now() - %(seconds)s::float8 * interval '1 second';
