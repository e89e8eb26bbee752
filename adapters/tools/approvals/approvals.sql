-- Consent in families of chats: who asks for it, what was decided, what is allowed always.

-- name: granted_tools
-- What is not asked about again: what a person has allowed always in the family, and the starts of
-- servers that were allowed to this chat.
SELECT tool
  FROM approval_decisions
 WHERE root_id = %(root)s AND verdict = 'allow_always' AND revoked_at IS NULL
UNION
SELECT tool
  FROM approval_decisions
 WHERE chat_id = %(chat)s AND verdict = 'allow_once' AND revoked_at IS NULL
   AND starts_with(tool, %(start)s);

-- name: grants
-- The same of a whole family, with who allowed it first, and when.
SELECT DISTINCT ON (d.tool) d.tool, u.username, d.decided_at
  FROM approval_decisions d
  JOIN users u ON u.id = d.decided_by
 WHERE d.root_id = %(root)s AND d.revoked_at IS NULL
   AND (d.verdict = 'allow_always'
        OR (d.verdict = 'allow_once' AND starts_with(d.tool, %(start)s)))
 ORDER BY d.tool, d.id;

-- name: revoke_grant
-- From now on it is asked about again.
UPDATE approval_decisions
   SET revoked_at = now(), revoked_by = %(by)s
 WHERE root_id = %(root)s
   AND tool = %(tool)s
   AND (verdict = 'allow_always' OR (verdict = 'allow_once' AND starts_with(tool, %(start)s)))
   AND revoked_at IS NULL
RETURNING id;

-- name: asking_family
-- The members of a family that wait for a person, the root first.
SELECT id, title, approvals
  FROM chats
 WHERE (id = %(root)s OR root_id = %(root)s) AND status = 'requires_action' AND NOT archived
 ORDER BY created_at, id;

-- name: decisions
-- What was decided last, the newest first; or of one chat, of calls with one id, since then.
SELECT d.chat_id, d.tool_call_id, d.tool, d.verdict, d.words, u.username, d.decided_at
  FROM approval_decisions d
  LEFT JOIN users u ON u.id = d.decided_by
 WHERE d.root_id = %(root)s
   AND (%(chat)s::uuid IS NULL OR d.chat_id = %(chat)s)
   AND (%(call)s::text IS NULL OR d.tool_call_id = %(call)s)
   AND (%(since)s::timestamptz IS NULL OR d.decided_at >= %(since)s)
 ORDER BY d.id DESC
 LIMIT %(limit)s;

-- name: lock_root
-- From now on no child is born until the transaction is over; those that were are there. Whatever
-- else is done to all of the family begins here, too.
SELECT id FROM chats WHERE id = %(root)s FOR NO KEY UPDATE;

-- name: set_approval_policy
-- Of a family, moved beside the law: each gets a snapshot, so that whoever knows an older one looks
-- again, sooner or later. Those that are at work have to be told.
WITH {locked_family}
UPDATE chats c
   SET approval_policy = %(policy)s, snapshot_version = c.snapshot_version + 1
  FROM locked_family f
 WHERE c.id = f.id
RETURNING c.id, c.status IN ('running', 'interrupting', 'requires_action');

-- column: ConsentRuleRow.changed_by
-- The name of the user who wrote the rule; user `u` is that user.
u.username

-- name: consent_rules_in_force
-- The rules that hold in a user's chats: the deployment's, and their own.
SELECT user_id IS NULL, subject, policy
  FROM approval_rules
 WHERE user_id IS NULL OR user_id = %(user)s
 ORDER BY subject, user_id IS NULL;

-- name: consent_rules
-- The rules of one place, as people see them: the deployment's (no user), or a user's.
SELECT {r.ConsentRuleRow}
  FROM approval_rules r
  LEFT JOIN users u ON u.id = r.changed_by
 WHERE r.user_id IS NOT DISTINCT FROM %(user)s
 ORDER BY r.subject;

-- name: put_consent_rules
-- Rules about these subjects; older ones about them are replaced. Nothing, if the place would have
-- too many.
WITH others AS (
    SELECT count(*) AS n FROM approval_rules
     WHERE user_id IS NOT DISTINCT FROM %(user)s AND subject <> ALL (%(subjects)s::text[])
)
INSERT INTO approval_rules (user_id, subject, policy, changed_by)
SELECT %(user)s, subject, %(policy)s, %(by)s
  FROM others, unnest(%(subjects)s::text[]) AS subject
 WHERE n + cardinality(%(subjects)s::text[]) <= %(max)s
    ON CONFLICT (user_id, subject)
    DO UPDATE SET policy = EXCLUDED.policy, changed_by = EXCLUDED.changed_by, changed_at = now()
RETURNING id;

-- name: remove_consent_rule
-- Of one place; another place's rule stays.
DELETE FROM approval_rules
 WHERE id = %(id)s AND user_id IS NOT DISTINCT FROM %(user)s
RETURNING id;
