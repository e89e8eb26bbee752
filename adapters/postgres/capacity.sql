-- How full the house is: asked when somebody reads the metrics, and only while a pool is full.

-- name: waiting_for_capacity
-- Chats that would be running if somebody had room for them: roots, and children.
SELECT count(*) FILTER (WHERE parent_id IS NULL), count(*) FILTER (WHERE parent_id IS NOT NULL)
  FROM chats
 WHERE worker_id IS NULL
   AND status = 'running'
   AND NOT archived;
