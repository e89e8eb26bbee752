-- The costs of chats: of their messages, and of what was bought beside them.

-- name: book_side_cost
-- Add to the costs of a chat and of the day; if the chat is gone, neither is kept. What was set
-- aside for them is counted, whether the chat is gone or not.
WITH locked AS (
    SELECT %(paid)s::json AS paid
), {settled}, added AS (
    INSERT INTO side_costs AS known (chat_id, what, micros, requests, unpriced)
    SELECT id, %(what)s, %(micros)s, %(requests)s, %(unpriced)s
      FROM chats
     WHERE id = %(chat)s
    ON CONFLICT (chat_id, what) DO UPDATE
       SET micros = known.micros + excluded.micros,
           requests = known.requests + excluded.requests,
           unpriced = known.unpriced + excluded.unpriced
)
INSERT INTO spend_days AS known (
    day, user_id, model_config_id, what, labels, labels_digest, micros, requests, unpriced)
SELECT coalesce(%(day)s::date, (now() AT TIME ZONE 'UTC')::date), owner_id,
       coalesce(%(model)s::uuid, last_model_config_id, '00000000-0000-0000-0000-000000000000'),
       %(what)s, k.labels, md5(k.labels::text), %(micros)s, %(requests)s, %(unpriced)s
  FROM chats c,
       LATERAL (SELECT coalesce((SELECT r.labels FROM chats r WHERE r.id = c.root_id), c.labels)
                    AS labels) AS k
 WHERE c.id = %(chat)s
ON CONFLICT (day, user_id, model_config_id, what, labels_digest) DO UPDATE
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
