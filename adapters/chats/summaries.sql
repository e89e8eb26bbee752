-- Summaries stand beside the law: nothing of a chat moves with them. They are written only as long
-- as nothing has been said behind what they sum up, and only if that is news.

-- name: shown_of_chat
-- What a list shows of it; how many prompts of users were answered in it, and were when it was summed
-- up.
SELECT title,
       (SELECT count(*)
          FROM (SELECT role, lead(role) OVER (ORDER BY id) AS next
                  FROM messages
                 WHERE chat_id = %(chat)s AND NOT deleted AND NOT compressed
                   AND visibility <> 'model' AND role IN ('user', 'assistant')) AS seen
         WHERE role = 'user' AND next = 'assistant'),
       CASE WHEN summary IS NOT NULL THEN coalesce(summarised_turns, 0) END
  FROM chats
 WHERE id = %(chat)s;

-- name: label_turn
-- How the latest turn ended.
UPDATE chats SET last_turn_summary = %(words)s
 WHERE id = %(chat)s AND history_version = %(history_version)s
   AND last_turn_summary IS DISTINCT FROM %(words)s
RETURNING owner_id;

-- name: summarise_chat
-- What all of it is about, after so many turns.
UPDATE chats SET summary = %(words)s, summarised_turns = %(turns)s
 WHERE id = %(chat)s AND history_version = %(history_version)s
   AND (summary, summarised_turns) IS DISTINCT FROM (%(words)s, %(turns)s::integer)
RETURNING owner_id;
