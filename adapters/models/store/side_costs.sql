-- The costs of chats: of their messages, and of what was bought beside them.

-- name: book_side_cost
-- Add to the costs of a chat; if the chat is gone, nothing is kept.
INSERT INTO side_costs AS known (chat_id, what, micros, requests, unpriced)
SELECT id, %(what)s, %(micros)s, %(requests)s, %(unpriced)s
  FROM chats
 WHERE id = %(chat)s
ON CONFLICT (chat_id, what) DO UPDATE
   SET micros = known.micros + excluded.micros,
       requests = known.requests + excluded.requests,
       unpriced = known.unpriced + excluded.unpriced;

-- name: cost_of_tree
-- The costs of a whole family of chats, whichever of it is named, and which of them are of that chat.
-- What is deleted was paid, too. A row whose `what` is null is of messages.
WITH tree AS (
    SELECT member.id
      FROM chats c
      JOIN chats member ON coalesce(member.root_id, member.id) = coalesce(c.root_id, c.id)
     WHERE c.id = %(chat)s
), paid AS (
    SELECT m.chat_id, NULL AS what, m.cost_micros AS micros,
           1 AS requests, (m.cost_micros IS NULL)::int AS unpriced
      FROM messages m
     WHERE m.chat_id IN (SELECT id FROM tree) AND m.cost_source IS NOT NULL
    UNION ALL
    SELECT s.chat_id, s.what, s.micros, s.requests, s.unpriced
      FROM side_costs s
     WHERE s.chat_id IN (SELECT id FROM tree)
)
SELECT what,
       chat_id = %(chat)s,
       coalesce(sum(micros), 0)::bigint,
       sum(requests)::bigint,
       sum(unpriced)::bigint
  FROM paid
 GROUP BY 1, 2
 ORDER BY 1, 2;
