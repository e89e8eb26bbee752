-- How many turns of a chat were done when it was summed up last: the next summary is made some turns
-- after that, whenever that was.

ALTER TABLE chats ADD COLUMN summarised_turns integer;
