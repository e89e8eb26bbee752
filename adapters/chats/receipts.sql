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
DELETE FROM receipts WHERE created_at < now() - %(keep_seconds)s * interval '1 second';
