-- Chats that have work and nobody who does it are found without a look at those at work.
--
-- The key must not be a column that changes with every write (updated_at): no write of a chat could
-- be made in place any more, in any index's eyes.

CREATE INDEX chats_free ON chats (id)
    WHERE worker_id IS NULL
      AND status IN ('running', 'interrupting', 'requires_action')
      AND NOT archived;

DROP INDEX chats_runnable;
