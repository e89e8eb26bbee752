-- What was spent.

-- part: bought
-- Every call that was paid for in a time: as messages, and as what is kept by the day. The labels
-- are those of the root.
bought AS (
    SELECT (m.created_at AT TIME ZONE 'UTC')::date AS day, c.owner_id AS user_id,
           m.model_config_id, 'message' AS what,
           CASE WHEN c.root_id IS NULL THEN c.labels ELSE coalesce(r.labels, c.labels) END AS labels,
           coalesce(m.cost_micros, 0) AS micros, 1 AS requests,
           (m.cost_micros IS NULL)::int AS unpriced, coalesce(m.input_tokens, 0) AS input_tokens,
           coalesce(m.output_tokens, 0) AS output_tokens,
           coalesce(m.cache_read_tokens, 0) AS cache_read_tokens,
           coalesce(m.cache_creation_tokens, 0) AS cache_creation_tokens
      FROM messages m
      JOIN chats c ON c.id = m.chat_id
      LEFT JOIN chats r ON r.id = c.root_id
     WHERE m.cost_source IS NOT NULL
       AND m.created_at >= %(since)s::date::timestamp AT TIME ZONE 'UTC'
       AND m.created_at < %(until)s::date::timestamp AT TIME ZONE 'UTC'
       AND (%(user)s::uuid IS NULL OR c.owner_id = %(user)s)
    UNION ALL
    SELECT day, user_id, nullif(model_config_id, {nil}), what, labels, micros, requests, unpriced,
           input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens
      FROM spend_days
     WHERE day >= %(since)s AND day < %(until)s
       AND (%(user)s::uuid IS NULL OR user_id = %(user)s)
)

-- name: usage
-- What was spent from one day on and before another, grouped by what is asked for. A group of no
-- kind is one row.
WITH {bought}, grouped AS (
    SELECT CASE WHEN %(by_day)s THEN day END AS day,
           CASE WHEN %(by_user)s THEN user_id END AS user_id,
           CASE WHEN %(by_model)s THEN model_config_id END AS model_config_id,
           CASE WHEN %(by_what)s THEN what END AS what,
           CASE WHEN %(label)s::text IS NOT NULL THEN labels ->> %(label)s END AS label,
           sum(requests)::bigint AS requests, sum(unpriced)::bigint AS unpriced,
           sum(micros)::bigint AS micros, sum(input_tokens)::bigint AS input_tokens,
           sum(output_tokens)::bigint AS output_tokens,
           sum(cache_read_tokens)::bigint AS cache_read_tokens,
           sum(cache_creation_tokens)::bigint AS cache_creation_tokens
      FROM bought
     GROUP BY 1, 2, 3, 4, 5
)
SELECT g.day, g.user_id, u.username, g.model_config_id,
       coalesce(p.type || '/' || m.model, m.model, o.label), g.what, g.label,
       g.requests, g.unpriced, g.micros, g.input_tokens, g.output_tokens, g.cache_read_tokens,
       g.cache_creation_tokens
  FROM grouped g
  LEFT JOIN users u ON u.id = g.user_id
  LEFT JOIN model_configs m ON m.id = g.model_config_id
  LEFT JOIN ai_providers p ON p.id = m.provider_id
  LEFT JOIN offered_models o ON o.id = g.model_config_id
 ORDER BY g.day, u.username, 5, g.what, g.label, g.user_id, g.model_config_id
 OFFSET %(skip)s
 LIMIT %(most)s;

-- name: month_spend_of_users
-- What users have spent in the month of a day, as far as it is known.
WITH {bought}
SELECT user_id, sum(micros)::bigint FROM bought
 WHERE user_id = ANY(%(users)s) GROUP BY user_id;
