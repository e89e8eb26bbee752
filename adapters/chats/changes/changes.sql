-- Branches of chats and what their forge says of them; users' tokens at forges.

-- name: note_branch
-- A chat works on this branch. What was known of another one is forgotten; of the same one it is
-- asked for anew if it was pushed, or if the chat has just spoken with the forge. Nothing comes back
-- if nothing that is shown has changed. A process that asks the forge meanwhile will write nothing.
WITH before AS (
    SELECT d.remote_origin, d.branch FROM diff_statuses d WHERE d.chat_id = %(chat)s
), noted AS (
    INSERT INTO diff_statuses AS d (chat_id, remote_origin, branch, host, path, pushed_at, stale_at)
    SELECT c.id, %(remote_origin)s, %(branch)s, %(host)s::text, %(path)s::text,
           CASE WHEN %(is_push)s THEN now() END,
           CASE WHEN %(host)s::text IS NOT NULL THEN now() END
      FROM chats c
     WHERE c.id = %(chat)s AND (%(owner)s::uuid IS NULL OR c.owner_id = %(owner)s::uuid)
        ON CONFLICT (chat_id) DO UPDATE
       SET remote_origin = excluded.remote_origin, branch = excluded.branch,
           host = excluded.host, path = excluded.path,
           pull_request = CASE WHEN (d.remote_origin, d.branch)
                                    = (excluded.remote_origin, excluded.branch)
                               THEN d.pull_request END,
           refreshed_at = CASE WHEN (d.remote_origin, d.branch)
                                    = (excluded.remote_origin, excluded.branch)
                               THEN d.refreshed_at END,
           noted_at = now(),
           pushed_at = CASE WHEN %(is_push)s THEN now()
                            WHEN (d.remote_origin, d.branch)
                                 = (excluded.remote_origin, excluded.branch) THEN d.pushed_at END,
           stale_at = CASE WHEN excluded.host IS NULL THEN NULL
                           WHEN %(is_news)s
                                OR (d.remote_origin, d.branch)
                                   <> (excluded.remote_origin, excluded.branch)
                           THEN now()
                           ELSE least(coalesce(d.stale_at, now()),
                                      now() + %(fresh_seconds)s * interval '1 second') END,
           claim = NULL, claimed_until = NULL
    RETURNING d.chat_id, d.remote_origin, d.branch
)
SELECT c.owner_id, (n.remote_origin, n.branch) IS DISTINCT FROM (b.remote_origin, b.branch)
  FROM noted n JOIN chats c ON c.id = n.chat_id LEFT JOIN before b ON true;

-- name: claim_stale_branches
-- Branches whose forge is to be asked, for one process alone: those that have waited longest. Left out
-- are those of users whom their forge has asked for patience, and of forges that are set up no more.
WITH due AS (
    SELECT d.chat_id
      FROM diff_statuses d
      JOIN chats c ON c.id = d.chat_id
      LEFT JOIN forge_tokens t ON t.user_id = c.owner_id AND t.host = d.host
     WHERE d.stale_at <= now()
       AND d.host = ANY(%(hosts)s::text[])
       AND (d.claimed_until IS NULL OR d.claimed_until < now())
       AND (t.delayed_until IS NULL OR t.delayed_until <= now())
     ORDER BY d.stale_at
     LIMIT %(rows_max)s
       FOR UPDATE OF d SKIP LOCKED
), claimed AS (
    UPDATE diff_statuses d
       SET claim = %(claim)s, claimed_until = now() + %(claim_seconds)s * interval '1 second'
      FROM due
     WHERE d.chat_id = due.chat_id
    RETURNING d.*
)
SELECT {d.StaleBranch}
  FROM claimed d
  JOIN chats c ON c.id = d.chat_id
  LEFT JOIN forge_tokens t ON t.user_id = c.owner_id AND t.host = d.host
 ORDER BY d.stale_at;

-- column: StaleBranch.owner_id
-- The owner of chat `c`, by whose token the forge is asked.
c.owner_id

-- column: StaleBranch.is_archived
-- Then the forge is asked no more.
c.archived

-- column: StaleBranch.sealed
-- The owner's token at the forge; null: they have brought none.
t.sealed

-- column: StaleBranch.failure
-- Why the forge did not take the token; "": it did, or there is none.
coalesce(t.failure, '')

-- column: StaleBranch.seconds_since_push
-- Null: no push of it was seen.
extract(epoch FROM now() - d.pushed_at)::double precision

-- column: StaleBranch.seconds_since_work
-- Since the chat has done something in its repository.
extract(epoch FROM now() - d.noted_at)::double precision

-- name: record_pull_request
-- What the forge has said. Nothing is written if the branch was noted again meanwhile, or if another
-- process asks by now; what comes back says whether it is news.
WITH before AS (
    SELECT d.pull_request FROM diff_statuses d
     WHERE d.chat_id = %(chat)s AND d.claim = %(claim)s
       FOR UPDATE
), written AS (
    UPDATE diff_statuses d
       SET pull_request = CASE WHEN %(is_answer)s THEN %(pull_request)s::jsonb
                               ELSE d.pull_request END,
           refreshed_at = CASE WHEN %(is_answer)s THEN now() ELSE d.refreshed_at END,
           stale_at = now() + %(seconds)s::double precision * interval '1 second',
           claim = NULL, claimed_until = NULL
      FROM before b
     WHERE d.chat_id = %(chat)s AND d.claim = %(claim)s
    RETURNING d.pull_request IS DISTINCT FROM b.pull_request
)
SELECT * FROM written;

-- name: release_branches
-- They were claimed and could not be asked about: any process may, at once.
UPDATE diff_statuses SET claim = NULL, claimed_until = NULL
 WHERE chat_id = ANY(%(chats)s::uuid[]) AND claim = %(claim)s;

-- name: delay_forge
-- The forge has asked for patience with this user; it is not asked for so long by any process.
UPDATE forge_tokens
   SET delayed_until = greatest(delayed_until, now() + %(seconds)s * interval '1 second')
 WHERE user_id = %(user)s AND host = %(host)s;

-- name: note_forge_token
-- Whether the forge takes the token. Nothing is written if it is another one by now, or if this is
-- known already.
UPDATE forge_tokens SET failure = %(failure)s
 WHERE user_id = %(user)s AND host = %(host)s AND sealed = %(sealed)s AND failure <> %(failure)s;

-- name: branch_of_chat
-- The branch of a chat, with its owner's token at the forge.
SELECT {d.ChatBranch}
  FROM diff_statuses d
  JOIN chats c ON c.id = d.chat_id
  LEFT JOIN forge_tokens t ON t.user_id = c.owner_id AND t.host = d.host
 WHERE d.chat_id = %(chat)s;

-- column: ChatBranch.owner_id
-- The owner of chat `c`.
c.owner_id

-- column: ChatBranch.sealed
-- The owner's token at the forge; null: they have brought none.
t.sealed

-- column: ChatBranch.delayed_seconds
-- For so long the forge is not to be asked by this token; null: it may be.
CASE WHEN t.delayed_until > now() THEN extract(epoch FROM t.delayed_until - now())::double precision
END

-- name: forge_tokens_of
-- A user's tokens.
SELECT host, failure, delayed_until, created_at, sealed FROM forge_tokens
 WHERE user_id = %(user)s;

-- name: holders_of_forge_tokens
-- Who has a token at which forge, of one user or of all.
SELECT user_id, host FROM forge_tokens
 WHERE %(user)s::uuid IS NULL OR user_id = %(user)s::uuid;

-- name: examine_forge_tokens
-- The newest tokens, for those who look after the server. The last column is null where the forge does
-- not ask for patience.
SELECT user_id, host, sealed, failure <> '',
       CASE WHEN delayed_until > now() THEN extract(epoch FROM delayed_until - now())::double precision
       END
  FROM forge_tokens ORDER BY created_at DESC LIMIT %(rows_max)s;

-- name: examine_missing_forge_tokens
-- By host, how many users have chats on a branch there and no token. Looked at by hand only: it reads
-- the branches of all chats.
SELECT d.host, count(DISTINCT c.owner_id)
  FROM diff_statuses d
  JOIN chats c ON c.id = d.chat_id AND NOT c.archived
  LEFT JOIN forge_tokens t ON t.user_id = c.owner_id AND t.host = d.host
 WHERE d.host IS NOT NULL AND t.user_id IS NULL
 GROUP BY d.host;

-- name: put_forge_token
-- A new one takes the place of the former; the forge is asked about all of its owner's branches.
WITH put AS (
    INSERT INTO forge_tokens (user_id, host, sealed)
    SELECT %(user)s::uuid, %(host)s, %(sealed)s::bytea
        ON CONFLICT (user_id, host) DO UPDATE
       SET sealed = excluded.sealed, failure = '', delayed_until = NULL, created_at = now()
)
UPDATE diff_statuses d SET stale_at = now()
  FROM chats c
 WHERE c.id = d.chat_id AND c.owner_id = %(user)s::uuid AND NOT c.archived AND d.host = %(host)s;

-- name: delete_forge_token
-- It is gone; what is known by it stays until it is asked for again, which needs a token.
DELETE FROM forge_tokens WHERE user_id = %(user)s AND host = %(host)s RETURNING host;
