-- For watchers that read instead of being told: what a chat was a moment ago, and what went from it.
--
-- A watcher is owed every status that a chat has had, also those between two of his reads. The last
-- sixteen changes stand in the chat itself, each as 'VERSION STATUS'; who is further behind gets
-- these.

ALTER TABLE chats ADD COLUMN status_trail text[] NOT NULL DEFAULT '{}';

CREATE FUNCTION keep_status_trail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.status_trail := OLD.status_trail || concat(NEW.snapshot_version, ' ', NEW.status);
    NEW.status_trail := NEW.status_trail[greatest(1, cardinality(NEW.status_trail) - 15):];
    RETURN NEW;
END $$;

CREATE TRIGGER chats_status_trail BEFORE UPDATE ON chats FOR EACH ROW
    WHEN (NEW.status <> OLD.status)
    EXECUTE FUNCTION keep_status_trail();

CREATE INDEX messages_gone ON messages (chat_id, revision) WHERE deleted;
