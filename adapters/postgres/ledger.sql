-- Transitions: what the law needs to know, and the one statement that writes what it decided.
-- Form: `-- name: x`, one line or more of why, the statement. A `-- part: x` is put
-- in wherever {x} stands, the columns of a record where {Record} stands.

-- column: ChatRow.now
-- When the chat was read.
now()

-- column: ChatRow.holder_is_fresh
-- Whether the lease of its holder is fresh.
EXISTS (SELECT FROM workers w
         WHERE w.id = worker_id
           AND w.heartbeat_at > now() - %(lease_seconds)s * interval '1 second')

-- column: LockedRow.xid
-- The transaction that locked the chat.
pg_current_xact_id()

-- part: said_row
-- The columns of a message that a step or a user gives it, as they stand in `said`.
role text, content json, visibility text, compressed boolean, created_by uuid,
model_config_id uuid, reasoning_effort text, input_tokens bigint, output_tokens bigint,
total_tokens bigint, reasoning_tokens bigint, cache_creation_tokens bigint,
cache_read_tokens bigint, context_limit bigint, runtime_ms bigint, cost_micros bigint,
cost_source text

-- part: said_columns
-- The same, by their names.
role, content, visibility, compressed, created_by, model_config_id, reasoning_effort,
input_tokens, output_tokens, total_tokens, reasoning_tokens, cache_creation_tokens,
cache_read_tokens, context_limit, runtime_ms, cost_micros, cost_source

-- name: now
-- The first statement of a transaction that locks nothing: who it is, and what time it is.
SELECT pg_current_xact_id(), now();

-- name: lock_chat
-- Take the chat for this transaction and give the bundle its snapshot, before anything is read.
UPDATE chats
   SET snapshot_version = snapshot_version + 1
 WHERE id = %(chat)s
RETURNING {LockedRow};

-- name: lock_children
-- The children of a root that is locked, in the order in which they are archived with it.
WITH family AS MATERIALIZED (
    SELECT c.id FROM chats c WHERE c.parent_id = %(root)s ORDER BY {lock_order}
       FOR NO KEY UPDATE
), locked AS (
    UPDATE chats c
       SET snapshot_version = snapshot_version + 1
      FROM family f
     WHERE c.id = f.id
    RETURNING c.*
)
SELECT {ChatRow}
  FROM locked
 ORDER BY created_at, id;

-- name: is_being_erased
-- Whether this family is being erased: one row if so. Asked under its lock, so none begins meanwhile.
SELECT 1 FROM erasures WHERE root_id = %(root)s AND ended_at IS NULL;

-- name: queue
-- What waits, in the order in which it will be taken.
SELECT {QueuedRow}
  FROM queued_messages
 WHERE chat_id = %(chat)s
 ORDER BY position, id;

-- name: tail
-- The last assistant message below `before` and the tool messages after it: whether calls are open.
SELECT {TailRow}
  FROM messages
 WHERE chat_id = %(chat)s
   AND NOT deleted
   AND role IN ('assistant', 'tool')
   AND id < %(before)s
   AND id >= (SELECT id
                FROM messages
               WHERE chat_id = %(chat)s AND NOT deleted AND role = 'assistant' AND id < %(before)s
               ORDER BY id DESC
               LIMIT 1)
 ORDER BY id;

-- name: suffix
-- What an edit replaces: its target first, then the ids of all that came after it.
SELECT {SuffixRow}
  FROM messages
 WHERE chat_id = %(chat)s AND NOT deleted AND id >= %(message)s
 ORDER BY id;

-- name: files
-- Which files the chat links already, and which of `wanted` are there to be linked. The rows
-- wanted are kept from vanishing until the transaction is over.
WITH there AS (
    SELECT id FROM files WHERE id = ANY(%(wanted)s) ORDER BY id FOR KEY SHARE
)
SELECT file_id, true FROM chat_files WHERE chat_id = %(chat)s
UNION ALL
SELECT id, false FROM there;

-- name: inserted
-- What a write at `snapshot` inserted, in the order of writing: asked when the write stands but
-- its answer was lost.
SELECT %(chat)s::uuid,
       now(),
       (SELECT array_agg(m.id ORDER BY m.id)
          FROM messages m
         WHERE m.chat_id = %(chat)s AND m.revision = %(snapshot)s AND NOT m.deleted),
       (SELECT array_agg(q.id ORDER BY q.id)
          FROM queued_messages q
         WHERE q.chat_id = %(chat)s AND q.position = ANY(%(positions)s)),
       NULL::integer;

-- name: is_said
-- Whether these messages are those of a snapshot, in their order: what a lost write was to add.
SELECT count(*) > 0
       AND bool_and(coalesce(m.role = s.role AND m.content::text = s.content::text
                             AND m.created_by IS NOT DISTINCT FROM s.created_by, false))
  FROM ROWS FROM (json_to_recordset(%(said)s) AS ({said_row})) WITH ORDINALITY AS s
  LEFT JOIN (SELECT role, content, created_by, row_number() OVER (ORDER BY id) AS place
               FROM messages
              WHERE chat_id = %(chat)s AND revision = %(snapshot)s AND NOT deleted) AS m
    ON m.place = s.ordinality;

-- name: keep_receipt
-- What the write before it has made, under the name that its request was given.
INSERT INTO receipts (user_id, key, request, chat_id, message_ids, queued_ids)
SELECT %(user)s, %(key)s, %(request)s, %(chat)s,
       (SELECT array_agg(m.id ORDER BY m.id)
          FROM messages m
         WHERE m.chat_id = %(chat)s AND m.revision = %(snapshot)s AND NOT m.deleted),
       (SELECT array_agg(q.id ORDER BY q.id)
          FROM queued_messages q
         WHERE q.chat_id = %(chat)s AND q.position = ANY(%(positions)s));

-- name: insert_chat
-- A new chat with all that the bundle which makes it says: one statement, nothing half-written.
WITH wanted AS MATERIALIZED (
    SELECT * FROM json_to_record(%(change)s) AS w(
        id uuid, owner_id uuid, parent_id uuid, root_id uuid, title text, client_type text,
        plan_mode text, mode text, workspace_id uuid, labels jsonb, mcp_server_ids uuid[],
        dynamic_tools json, dynamic_tool_names text[], approval_policy text, status text,
        archived boolean,
        worker_id uuid, runner_id uuid, last_error json, retry_state json,
        requires_action_deadline_at timestamptz, compaction_requested_at timestamptz,
        snapshot_version bigint, history_version bigint, queue_version bigint,
        retry_state_version bigint, generation_attempt integer, provider_failures_count integer,
        process_deaths_count integer, pin_order integer, last_model_config_id uuid,
        last_reasoning_effort text, said json, links uuid[], news json)
), created AS (
    INSERT INTO chats (
        id, owner_id, parent_id, root_id, title, client_type, plan_mode, mode, workspace_id,
        labels, mcp_server_ids, dynamic_tools, dynamic_tool_names, approval_policy, status,
        archived, worker_id, runner_id, last_error, retry_state, requires_action_deadline_at,
        compaction_requested_at, snapshot_version,
        history_version, queue_version, retry_state_version, generation_attempt,
        provider_failures_count, process_deaths_count, pin_order, last_model_config_id,
        last_reasoning_effort)
    SELECT id, owner_id, parent_id, root_id, title, client_type, plan_mode, mode, workspace_id,
           labels, mcp_server_ids, dynamic_tools, dynamic_tool_names, approval_policy, status,
           archived, worker_id, runner_id, last_error, retry_state, requires_action_deadline_at,
        compaction_requested_at, snapshot_version,
           history_version, queue_version, retry_state_version, generation_attempt,
           provider_failures_count, process_deaths_count, pin_order, last_model_config_id,
           last_reasoning_effort
      FROM wanted
    RETURNING id, snapshot_version
), inserted AS (
    INSERT INTO messages (chat_id, revision, {said_columns})
    SELECT w.id, w.snapshot_version, {said_columns}
      FROM wanted w,
           ROWS FROM (json_to_recordset(w.said) AS ({said_row})) WITH ORDINALITY AS s
     ORDER BY s.ordinality
    RETURNING id
), linked AS (
    INSERT INTO chat_files (chat_id, file_id) SELECT w.id, unnest(w.links) FROM wanted w
)
SELECT id, now(), (SELECT array_agg(m.id ORDER BY m.id) FROM inserted m), NULL::bigint[],
       file_news(id, snapshot_version, (SELECT news FROM wanted))
  FROM created;

-- part: locked
-- The changes that may be made: each is fenced by the snapshot it was decided under, and one that
-- wakes a chat by what else its turn begins with. A chat that has moved on is left alone and not
-- answered for. So is one that another transaction
-- has locked: a group never waits for one of its chats, whose change is then made the long way. The
-- lock is the one that an UPDATE takes and no stronger: a write of a child holds its root's key,
-- and a stronger lock would skip the root under the very transaction that has it locked.
locked AS MATERIALIZED (
    SELECT w.*
      FROM json_to_recordset(%(changes)s) AS w(
               id uuid, held bigint, by_holder boolean, touched boolean, status text,
               archived boolean, worker_id uuid, runner_id uuid, last_error json,
               retry_state json, requires_action_deadline_at timestamptz,
               compaction_requested_at timestamptz, snapshot_version bigint,
               history_version bigint, queue_version bigint, retry_state_version bigint,
               generation_attempt integer, provider_failures_count integer,
               process_deaths_count integer, pin_order integer, last_model_config_id uuid,
               last_reasoning_effort text, said json, unsaid bigint[], queued json,
               requeued json, unqueued bigint[], links uuid[], plan_mode text,
               mcp_server_ids uuid[], approvals json, decided json, news json, paid json,
               seen_plan_mode text, seen_workspace_id uuid)
      JOIN chats c ON c.id = w.id AND c.snapshot_version = w.held
                  AND (w.seen_plan_mode IS NULL
                       OR (c.plan_mode = w.seen_plan_mode
                           AND c.workspace_id IS NOT DISTINCT FROM w.seen_workspace_id))
       FOR NO KEY UPDATE OF c SKIP LOCKED
), written AS (
    UPDATE chats c
       SET updated_at = CASE WHEN w.touched THEN now() ELSE c.updated_at END,
           status = w.status,
           archived = w.archived,
           worker_id = w.worker_id,
           runner_id = w.runner_id,
           last_error = w.last_error,
           retry_state = w.retry_state,
           requires_action_deadline_at = w.requires_action_deadline_at,
           compaction_requested_at = w.compaction_requested_at,
           snapshot_version = w.snapshot_version,
           holder_version = CASE WHEN w.by_holder THEN w.snapshot_version
                                 ELSE c.holder_version END,
           history_version = w.history_version,
           queue_version = w.queue_version,
           retry_state_version = w.retry_state_version,
           generation_attempt = w.generation_attempt,
           provider_failures_count = w.provider_failures_count,
           process_deaths_count = w.process_deaths_count,
           pin_order = CASE WHEN w.archived THEN 0 ELSE c.pin_order END, -- moved beside the law
           last_model_config_id = w.last_model_config_id,
           last_reasoning_effort = w.last_reasoning_effort,
           plan_mode = coalesce(w.plan_mode, c.plan_mode), -- moved beside the law, too
           mcp_server_ids = coalesce(w.mcp_server_ids, c.mcp_server_ids),
           approvals = coalesce(w.approvals, c.approvals)
      FROM locked w
     WHERE c.id = w.id
)

-- part: said
-- What the changes say, in their order.
said AS (
    INSERT INTO messages (chat_id, revision, {said_columns})
    SELECT w.id, w.snapshot_version, {said_columns}
      FROM locked w,
           ROWS FROM (json_to_recordset(w.said) AS ({said_row})) WITH ORDINALITY AS s
     ORDER BY w.id, s.ordinality
    RETURNING id, chat_id
)

-- part: news
-- How many deliveries wait because of the change; null if it holds no news, without a call.
file_news(w.id, w.snapshot_version, w.news)

-- part: settled
-- Count what calls cost that money was set aside for, where it was set aside: the reservations go,
-- and every counter of their user and of all users takes what was spent. The counters are locked in
-- one order by all. A reservation that is gone already, because its process was thought dead, was
-- given back then, and its cost counts all the same.
paying AS MATERIALIZED (
    SELECT p.*
      FROM locked w,
           json_to_recordset(w.paid) AS p(
               reservation uuid, user_id uuid, day date, micros bigint, expected bigint)
), released AS (
    DELETE FROM spend_reservations r
     USING paying p
     WHERE r.id = p.reservation
    RETURNING r.id, r.micros
), due AS MATERIALIZED (
    SELECT k.subject_id, k.period, k.starts_on,
           sum(coalesce(p.micros, p.expected))::bigint AS spent,
           sum(coalesce(r.micros, 0))::bigint AS reserved
      FROM paying p
      LEFT JOIN released r ON r.id = p.reservation,
           LATERAL (VALUES (p.user_id, 'day', p.day),
                           (p.user_id, 'month', date_trunc('month', p.day)::date),
                           ('00000000-0000-0000-0000-000000000000'::uuid, 'day', p.day),
                           ('00000000-0000-0000-0000-000000000000'::uuid, 'month',
                            date_trunc('month', p.day)::date)) AS k(subject_id, period, starts_on)
     GROUP BY 1, 2, 3
), counters AS MATERIALIZED (
    SELECT c.subject_id, c.period, c.starts_on, d.spent, d.reserved
      FROM due d
      JOIN spend_counters c USING (subject_id, period, starts_on)
     ORDER BY 1, 2, 3
       FOR NO KEY UPDATE OF c
), counted AS (
    UPDATE spend_counters c
       SET spent_micros = c.spent_micros + k.spent,
           reserved_micros = c.reserved_micros - k.reserved
      FROM counters k
     WHERE (c.subject_id, c.period, c.starts_on) = (k.subject_id, k.period, k.starts_on)
)

-- name: write_columns
-- Write changes that neither say nor queue anything. One answer per chat written.
WITH {locked}
SELECT w.id, now(), NULL::bigint[], NULL::bigint[], {news} FROM locked w;

-- name: write_steps
-- Write changes that add to the history and do nothing else to it.
WITH {locked}, {said}
SELECT w.id,
       now(),
       (SELECT array_agg(s.id ORDER BY s.id) FROM said s WHERE s.chat_id = w.id),
       NULL::bigint[],
       {news}
  FROM locked w;

-- name: write_paid_steps
-- The same, for steps that money was set aside for.
WITH {locked}, {said}, {settled}
SELECT w.id,
       now(),
       (SELECT array_agg(s.id ORDER BY s.id) FROM said s WHERE s.chat_id = w.id),
       NULL::bigint[],
       {news}
  FROM locked w;

-- part: rest
-- What changes do beside what they say.
unsaid AS (
    UPDATE messages m
       SET deleted = true, revision = w.snapshot_version
      FROM locked w
     WHERE m.chat_id = w.id AND m.id = ANY(w.unsaid)
), unqueued AS (
    DELETE FROM queued_messages q
     USING locked w
     WHERE q.chat_id = w.id AND q.id = ANY(w.unqueued)
), requeued AS (
    UPDATE queued_messages q
       SET position = r.position, content = r.content, model_config_id = r.model_config_id,
           reasoning_effort = r.reasoning_effort
      FROM locked w,
           json_to_recordset(w.requeued) AS r(
               id bigint, position bigint, content json, model_config_id uuid,
               reasoning_effort text)
     WHERE q.chat_id = w.id AND q.id = r.id
), queued AS (
    INSERT INTO queued_messages (
        chat_id, position, steers, content, created_by, model_config_id, reasoning_effort)
    SELECT w.id, n.position, n.steers, n.content, n.created_by, n.model_config_id,
           n.reasoning_effort
      FROM locked w,
           json_to_recordset(w.queued) AS n(
               position bigint, steers boolean, content json, created_by uuid,
               model_config_id uuid, reasoning_effort text)
     ORDER BY w.id, n.position
    RETURNING id, chat_id
), linked AS (
    INSERT INTO chat_files (chat_id, file_id)
    SELECT w.id, unnest(w.links) FROM locked w
), decided AS (
    INSERT INTO approval_decisions (
        chat_id, root_id, tool_call_id, tool, verdict, decided_by, words)
    SELECT w.id, d.root_id, d.tool_call_id, d.tool, d.verdict, d.decided_by, d.words
      FROM locked w,
           ROWS FROM (json_to_recordset(w.decided) AS (
               root_id uuid, tool_call_id text, tool text, verdict text, decided_by uuid,
               words text)) WITH ORDINALITY AS d
     ORDER BY w.id, d.ordinality
)

-- part: written_rows
-- Which rows they added, for each chat that was written.
SELECT w.id,
       now(),
       (SELECT array_agg(s.id ORDER BY s.id) FROM said s WHERE s.chat_id = w.id),
       (SELECT array_agg(q.id ORDER BY q.id) FROM queued q WHERE q.chat_id = w.id),
       {news}
  FROM locked w

-- name: write_changes
-- Write any changes.
WITH {locked}, {said}, {rest}
{written_rows};

-- name: write_paid_changes
-- The same, for steps that money was set aside for.
WITH {locked}, {said}, {rest}, {settled}
{written_rows};
