-- News for other processes. It leaves in a transaction of its own, after the commit it speaks of.

-- name: tell
-- Each payload is one notification; they are delivered in this order.
SELECT pg_notify(%(channel)s, payload) FROM unnest(%(payloads)s::text[]) AS payload;
