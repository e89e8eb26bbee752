-- Erasing: families of chats with all that belongs to them, and what else a user has.
--
-- An erasure begins by its row, in a transaction that has the root locked. From then on no user is
-- shown the family, and it cannot be taken out of the archive. Messages go in batches, the rest of
-- a family with its last ones. Whoever goes on with an erasure locks its row.

-- part: of_roots
-- The chats of the families of these roots, each with its root.
family AS MATERIALIZED (
    SELECT c.id, c.id AS root FROM chats c WHERE c.id = ANY(%(roots)s::uuid[])
     UNION ALL
    SELECT c.id, c.root_id FROM chats c WHERE c.root_id = ANY(%(roots)s::uuid[])
)

-- name: share_holds
-- Let no legal hold be set for this transaction. What was set before is seen from the next statement
-- on.
SELECT pg_advisory_xact_lock_shared(%(lock)s);

-- name: lock_old_roots
-- The next archived families, in the order of their ids, that are older than they may become.
SELECT c.id FROM chats c
 WHERE c.archived AND c.root_id IS NULL AND c.parent_id IS NULL AND c.id > %(after)s
   AND c.updated_at < now() - %(seconds)s::float8 * interval '1 second'
   AND NOT {being_erased} AND NOT {chat_on_hold}
 ORDER BY c.id LIMIT %(most)s
   FOR UPDATE OF c SKIP LOCKED;

-- name: count_old_roots
-- How many such families there are.
SELECT count(*) FROM chats c
 WHERE c.archived AND c.root_id IS NULL AND c.parent_id IS NULL
   AND c.updated_at < now() - %(seconds)s::float8 * interval '1 second'
   AND NOT {being_erased} AND NOT {chat_on_hold};

-- name: lock_roots
-- Those of these roots that are archived. No turn waits for the lock: archived chats have none.
SELECT c.id FROM chats c
 WHERE c.id = ANY(%(roots)s::uuid[]) AND c.archived AND c.parent_id IS NULL
 ORDER BY c.id FOR UPDATE OF c;

-- name: begin_erasures
-- Begin to erase these families, which are locked: those that are archived and on no hold.
INSERT INTO erasures (id, why, root_id, owner_id, request_id, asked_by)
SELECT gen_random_uuid(), %(why)s, c.id, c.owner_id, %(request)s::uuid, %(asked_by)s::uuid
  FROM chats c
 WHERE c.id = ANY(%(roots)s::uuid[]) AND c.archived AND NOT {chat_on_hold}
ON CONFLICT (root_id) WHERE ended_at IS NULL DO NOTHING
RETURNING id, root_id;

-- name: unlabel_spend
-- Labels are words of users: add up what chats with the labels of these roots have cost as without
-- labels, if the user has no other chat with them. No roots: whatever labels no chat has.
WITH gone AS (
    DELETE FROM spend_days d
     WHERE d.user_id = %(user)s AND d.labels <> '{}'
       AND (%(roots)s::uuid[] = '{}'
            OR d.labels IN (SELECT c.labels FROM chats c WHERE c.id = ANY(%(roots)s::uuid[])))
       AND NOT EXISTS (SELECT FROM chats c
                        WHERE c.owner_id = %(user)s AND c.labels = d.labels
                          AND c.id <> ALL(%(roots)s::uuid[]))
    RETURNING d.*
)
INSERT INTO spend_days AS known (
    day, user_id, model_config_id, what, labels, labels_digest, micros, requests, unpriced,
    input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens)
SELECT day, user_id, model_config_id, what, '{}', md5('{}'), sum(micros), sum(requests),
       sum(unpriced), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
       sum(cache_creation_tokens)
  FROM gone
 GROUP BY day, user_id, model_config_id, what
    ON CONFLICT (day, user_id, model_config_id, what, labels_digest) DO UPDATE
   SET micros = known.micros + excluded.micros,
       requests = known.requests + excluded.requests,
       unpriced = known.unpriced + excluded.unpriced,
       input_tokens = known.input_tokens + excluded.input_tokens,
       output_tokens = known.output_tokens + excluded.output_tokens,
       cache_read_tokens = known.cache_read_tokens + excluded.cache_read_tokens,
       cache_creation_tokens = known.cache_creation_tokens + excluded.cache_creation_tokens;

-- name: unlabel_chats
-- Take the labels off chats that users have asked to erase, so that no sum of costs keeps them.
UPDATE chats SET labels = '{}' WHERE id = ANY(%(roots)s::uuid[]) OR root_id = ANY(%(roots)s::uuid[]);

-- name: begin_user_erasure
-- Begin to erase what a user has. One that is under way goes on.
INSERT INTO erasures (id, why, owner_id, asked_by)
SELECT %(id)s, 'user', %(user)s, %(asked_by)s
 WHERE NOT EXISTS (SELECT FROM erasures
                    WHERE owner_id = %(user)s AND root_id IS NULL AND ended_at IS NULL)
RETURNING id;

-- name: erasures_of_users
-- The erasures of users that have not ended, the oldest first, locked.
SELECT {ErasureNames} FROM erasures
 WHERE root_id IS NULL AND ended_at IS NULL AND (%(id)s::uuid IS NULL OR id = %(id)s)
 ORDER BY begun_at, id LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: roots_of_user
-- The families that a user had when the erasure began: whether each is archived.
SELECT c.id, c.archived FROM chats c
 WHERE c.owner_id = %(user)s AND c.parent_id IS NULL AND c.created_at <= %(begun_at)s
   AND NOT {being_erased}
 ORDER BY c.archived DESC, c.id LIMIT %(most)s;

-- name: user_at_work
-- How many chats of a user are at work.
SELECT count(*) FROM chats c
 WHERE c.owner_id = %(user)s AND c.status IN ('running', 'interrupting', 'requires_action')
   AND NOT c.archived;

-- name: user_holds
-- Whether a user is on hold, and how many of their families are.
SELECT EXISTS (SELECT FROM legal_holds h WHERE h.user_id = %(user)s),
       (SELECT count(*) FROM legal_holds h JOIN chats c ON c.id = h.root_id
         WHERE c.owner_id = %(user)s);

-- name: has_chats
-- Whether a user still has chats from before the erasure.
SELECT EXISTS (SELECT FROM chats c WHERE c.owner_id = %(user)s AND c.created_at <= %(begun_at)s);

-- name: count_begun_erasures
-- How many families are being erased.
SELECT count(*) FROM erasures WHERE root_id IS NOT NULL AND ended_at IS NULL;

-- name: count_begun_users
-- How many erasures of all that a user has have not ended.
SELECT count(*) FROM erasures WHERE root_id IS NULL AND ended_at IS NULL;

-- name: lock_erasures
-- Erasures of families that have not ended, the oldest first: all, or those of one request.
SELECT {ErasureNames} FROM erasures
 WHERE root_id IS NOT NULL AND ended_at IS NULL
   AND (%(request)s::uuid IS NULL OR id = %(request)s OR request_id = %(request)s)
 ORDER BY begun_at, id LIMIT %(most)s
   FOR UPDATE SKIP LOCKED;

-- name: erase_messages
-- Delete messages of these families, and count them.
WITH {of_roots}, doomed AS MATERIALIZED (
    SELECT m.id, f.root
      FROM family f
     CROSS JOIN LATERAL (SELECT m.id FROM messages m WHERE m.chat_id = f.id
                          LIMIT %(most)s::bigint) m
     LIMIT %(most)s::bigint
), gone AS (
    DELETE FROM messages m USING doomed d WHERE m.id = d.id
    RETURNING d.root, pg_column_size(m.content) AS size
), counted AS (
    SELECT root, count(*) AS messages, sum(size) AS bytes FROM gone GROUP BY root
), noted AS (
    UPDATE erasures e SET messages = e.messages + n.messages, bytes = e.bytes + n.bytes
      FROM counted n WHERE e.root_id = n.root AND e.ended_at IS NULL
)
SELECT coalesce(sum(messages), 0)::bigint, coalesce(sum(bytes), 0)::bigint FROM counted;

-- name: lock_lone_files
-- Lock the files of these families. One that another chat takes at this moment is left to it.
WITH {of_roots}
SELECT f.id FROM files f
 WHERE f.id IN (SELECT l.file_id FROM chat_files l JOIN family y ON y.id = l.chat_id)
 ORDER BY f.id FOR UPDATE OF f SKIP LOCKED;

-- name: erase_families
-- Delete these families, whose messages are gone, with all rows that refer to them; the files that
-- only they have; and, if a user has asked for it, their workspaces. Return the chats, and the
-- workspaces whose directories have to go.
WITH {of_roots}, others AS MATERIALIZED (
    SELECT y.root, count(*) AS rows
      FROM (SELECT chat_id FROM queued_messages WHERE chat_id IN (SELECT id FROM family)
             UNION ALL
            SELECT chat_id FROM tool_calls WHERE chat_id IN (SELECT id FROM family)
             UNION ALL
            SELECT chat_id FROM receipts WHERE chat_id IN (SELECT id FROM family)
             UNION ALL
            SELECT chat_id FROM approval_decisions WHERE chat_id IN (SELECT id FROM family)) AS r
      JOIN family y ON y.id = r.chat_id
     GROUP BY y.root
), lone AS MATERIALIZED (
    SELECT DISTINCT ON (l.file_id) l.file_id AS id, y.root
      FROM chat_files l JOIN family y ON y.id = l.chat_id
     WHERE l.file_id = ANY(%(files)s::uuid[])
       AND NOT EXISTS (SELECT FROM chat_files o
                        WHERE o.file_id = l.file_id AND o.chat_id NOT IN (SELECT id FROM family))
), files_gone AS (
    DELETE FROM files f USING lone WHERE f.id = lone.id RETURNING lone.root, f.size_bytes
), places AS MATERIALIZED (
    SELECT c.workspace_id AS id, (array_agg(y.root))[1] AS root
      FROM chats c JOIN family y ON y.id = c.id JOIN erasures e ON e.root_id = y.root
     WHERE c.workspace_id IS NOT NULL AND e.ended_at IS NULL AND e.why <> 'retention'
       AND NOT EXISTS (SELECT FROM chats o
                        WHERE o.workspace_id = c.workspace_id
                          AND o.id NOT IN (SELECT id FROM family))
     GROUP BY c.workspace_id
), places_gone AS (
    UPDATE workspaces w SET removed_at = now(), is_stopped = true, name = w.id::text
      FROM places p WHERE w.id = p.id AND w.removed_at IS NULL
    RETURNING w.id, p.root
), named AS MATERIALIZED ( -- by digests of what was archived, which lead to no chat
    SELECT DISTINCT c.owner_id FROM chats c JOIN family y ON y.id = c.id
), notices_gone AS (
    DELETE FROM notices n USING named
     WHERE n.user_id = named.owner_id AND n.kind = 'archived'
       AND EXISTS (SELECT FROM json_array_elements(n.detail -> 'chats') AS told
                    WHERE (told ->> 'id')::uuid IN (SELECT id FROM family))
), deliveries_gone AS (
    DELETE FROM deliveries d USING named
     WHERE d.user_id = named.owner_id AND d.kind = 'archived'
       AND EXISTS (SELECT FROM json_array_elements(d.detail -> 'chats') AS told
                    WHERE (told ->> 'id')::uuid IN (SELECT id FROM family))
), gone AS (
    DELETE FROM chats c USING family y WHERE c.id = y.id
    RETURNING c.id, y.root, c.owner_id, c.snapshot_version
), noted AS (
    UPDATE erasures e
       SET ended_at = now(),
           chats = e.chats + (SELECT count(*) FROM gone g WHERE g.root = e.root_id),
           files = e.files + (SELECT count(*) FROM files_gone g WHERE g.root = e.root_id),
           bytes = e.bytes + (SELECT coalesce(sum(g.size_bytes), 0) FROM files_gone g
                               WHERE g.root = e.root_id),
           workspaces = e.workspaces
                      + (SELECT count(*) FROM places_gone g WHERE g.root = e.root_id),
           other_rows = e.other_rows
                      + coalesce((SELECT o.rows FROM others o WHERE o.root = e.root_id), 0)
     WHERE e.root_id = ANY(%(roots)s::uuid[]) AND e.ended_at IS NULL
)
SELECT id, owner_id, snapshot_version, false FROM gone
 UNION ALL
SELECT id, NULL, NULL, true FROM places_gone;

-- name: lock_user_files
-- Lock the files that a user had when the erasure began and that no chat has.
SELECT f.id FROM files f
 WHERE f.owner_id = %(user)s AND f.created_at <= %(begun_at)s
 ORDER BY f.id LIMIT %(most)s FOR UPDATE OF f SKIP LOCKED;

-- name: erase_user_files
-- Delete those of these files that no chat has.
WITH gone AS (
    DELETE FROM files f
     WHERE f.id = ANY(%(files)s::uuid[])
       AND NOT EXISTS (SELECT FROM chat_files l WHERE l.file_id = f.id)
    RETURNING f.size_bytes
), counted AS (
    SELECT count(*) AS files, coalesce(sum(size_bytes), 0)::bigint AS bytes FROM gone
), noted AS (
    UPDATE erasures e SET files = e.files + c.files, bytes = e.bytes + c.bytes
      FROM counted c WHERE e.id = %(id)s
)
SELECT files FROM counted;

-- name: erase_user_rest
-- Delete what else a user has from before the erasure, and end it: workspaces that no chat has,
-- tokens for servers of tools and forges, receipts, skills, instructions and other settings, rules of
-- consent, notices and where they are sent to. Return the workspaces.
WITH places_gone AS (
    UPDATE workspaces w SET removed_at = now(), is_stopped = true, name = w.id::text
     WHERE w.owner_id = %(user)s AND w.removed_at IS NULL AND w.created_at <= %(begun_at)s
       AND NOT EXISTS (SELECT FROM chats c WHERE c.workspace_id = w.id)
    RETURNING w.id
), rows_gone AS (
    DELETE FROM mcp_tokens WHERE user_id = %(user)s AND updated_at <= %(begun_at)s RETURNING 1
), receipts_gone AS (
    DELETE FROM receipts WHERE user_id = %(user)s AND created_at <= %(begun_at)s RETURNING 1
), skills_gone AS (
    DELETE FROM user_skills WHERE user_id = %(user)s AND updated_at <= %(begun_at)s RETURNING 1
), settings_gone AS (
    DELETE FROM user_settings WHERE user_id = %(user)s AND updated_at <= %(begun_at)s RETURNING 1
), forges_gone AS (
    DELETE FROM forge_tokens WHERE user_id = %(user)s RETURNING 1
), rules_gone AS (
    DELETE FROM approval_rules WHERE user_id = %(user)s RETURNING 1
), notices_gone AS (
    DELETE FROM notices WHERE user_id = %(user)s AND created_at <= %(begun_at)s RETURNING 1
), deliveries_gone AS (
    DELETE FROM deliveries WHERE user_id = %(user)s AND created_at <= %(begun_at)s RETURNING 1
), webhooks_gone AS (
    DELETE FROM webhooks WHERE owner_id = %(user)s AND created_at <= %(begun_at)s RETURNING 1
), devices_gone AS (
    DELETE FROM push_subscriptions WHERE user_id = %(user)s AND created_at <= %(begun_at)s
    RETURNING 1
), rest AS (
    SELECT 1 FROM rows_gone UNION ALL SELECT 1 FROM receipts_gone
     UNION ALL SELECT 1 FROM skills_gone UNION ALL SELECT 1 FROM settings_gone
     UNION ALL SELECT 1 FROM forges_gone UNION ALL SELECT 1 FROM rules_gone
     UNION ALL SELECT 1 FROM notices_gone UNION ALL SELECT 1 FROM deliveries_gone
     UNION ALL SELECT 1 FROM webhooks_gone UNION ALL SELECT 1 FROM devices_gone
), noted AS (
    UPDATE erasures e
       SET ended_at = now(),
           workspaces = e.workspaces + (SELECT count(*) FROM places_gone),
           other_rows = e.other_rows + (SELECT count(*) FROM rest)
     WHERE e.id = %(id)s
)
SELECT id FROM places_gone;

-- part: with_its_families
-- The sums of an erasure `e` and of those that belong to it.
(SELECT {e.ErasureNames}, sum(a.chats)::bigint, sum(a.messages)::bigint, sum(a.files)::bigint,
        sum(a.workspaces)::bigint, sum(a.other_rows)::bigint, sum(a.bytes)::bigint
   FROM erasures a WHERE a.id = e.id OR a.request_id = e.id)

-- name: erasure
-- One erasure, if this caller is an admin, has asked for it, or has owned what is gone.
SELECT s.* FROM erasures e CROSS JOIN LATERAL {with_its_families} AS s
 WHERE e.id = %(id)s
   AND (%(is_admin)s::boolean OR e.asked_by = %(caller)s OR e.owner_id = %(caller)s);

-- name: erasures_page
-- A page of erasures, the newest first; those that belong to another one are in its sums.
SELECT s.* FROM erasures e CROSS JOIN LATERAL {with_its_families} AS s
 WHERE e.request_id IS NULL
   AND (%(before)s::timestamptz IS NULL OR e.begun_at < %(before)s)
 ORDER BY e.begun_at DESC, e.id LIMIT %(most)s;
