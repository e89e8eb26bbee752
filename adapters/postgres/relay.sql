-- Where processes find each other.

-- name: worker_url
-- Where a process is found that has been heard of within a lease; '' if it has no address.
SELECT url FROM workers
 WHERE id = %(worker)s
   AND heartbeat_at > now() - %(lease_seconds)s * interval '1 second';

-- name: worker_urls
-- Of all that have been heard of within a lease.
SELECT url FROM workers
 WHERE heartbeat_at > now() - %(lease_seconds)s * interval '1 second'
 ORDER BY url
 LIMIT %(at_most)s;
