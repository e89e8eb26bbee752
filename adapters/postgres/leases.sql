-- Who is at work. One row per process; its heartbeat is the lease on every chat it holds.

-- name: beat
-- Hold on. The first beat makes the row; `expired` tells that others may have taken chats since.
WITH former AS (
    SELECT heartbeat_at FROM workers WHERE id = %(worker)s
), beaten AS (
    INSERT INTO workers (id, url)
    VALUES (%(worker)s, %(url)s)
    ON CONFLICT (id) DO UPDATE SET heartbeat_at = now(), url = excluded.url
)
SELECT now(), EXISTS (SELECT FROM former
                       WHERE heartbeat_at <= now() - %(lease_seconds)s * interval '1 second');

-- name: leave
-- Let go of everything: a chat whose holder has no row may be taken at once.
DELETE FROM workers WHERE id = %(worker)s;

-- name: sweep
-- Forget workers that have been gone for a while; their chats are free since their lease ran out.
DELETE FROM workers
 WHERE heartbeat_at < now() - %(forget_seconds)s * interval '1 second'
RETURNING id;
