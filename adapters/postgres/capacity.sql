-- How many chats wait for room: asked when the metrics are read, and only while a pool is full.

-- name: waiting_for_capacity
-- Chats that would be running if a process had room for them: roots, and children.
SELECT count(*) FILTER (WHERE parent_id IS NULL), count(*) FILTER (WHERE parent_id IS NOT NULL)
  FROM chats
 WHERE worker_id IS NULL
   AND status = 'running'
   AND NOT archived;
