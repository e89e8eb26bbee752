-- Webhooks, and their deliveries as their owners see them.

-- part: webhook_is_owned
-- Of one user; or of the deployment, where there is none.
w.owner_id IS NOT DISTINCT FROM %(owner)s::uuid

-- name: webhooks
-- Those of one owner.
SELECT {w.WebhookRow} FROM webhooks w WHERE {webhook_is_owned} ORDER BY w.created_at, w.id;

-- name: webhook
-- One of this owner's.
SELECT {w.WebhookRow} FROM webhooks w WHERE w.id = %(id)s AND {webhook_is_owned};

-- name: add_webhook
-- A new one; nothing comes back if its owner has as many as one may have.
INSERT INTO webhooks AS w (id, owner_id, url, description, kinds, secret, created_by)
SELECT %(id)s, %(owner)s::uuid, %(url)s, %(description)s, %(kinds)s, %(secret)s, %(by)s
 WHERE (SELECT count(*) FROM webhooks w WHERE {webhook_is_owned}) < %(most)s
RETURNING {w.WebhookRow};

-- name: change_webhook
-- What is null stays. One that is switched on again begins anew.
UPDATE webhooks w
   SET url = coalesce(%(url)s, w.url),
       description = coalesce(%(description)s, w.description),
       kinds = coalesce(%(kinds)s::text[], w.kinds),
       disabled_at = CASE %(enabled)s::boolean WHEN true THEN NULL
                     WHEN false THEN coalesce(w.disabled_at, now()) ELSE w.disabled_at END,
       disabled_why = CASE WHEN %(enabled)s::boolean IS NULL THEN w.disabled_why ELSE '' END,
       failing_since = CASE WHEN %(enabled)s::boolean THEN NULL ELSE w.failing_since END
 WHERE w.id = %(id)s AND {webhook_is_owned}
RETURNING {w.WebhookRow};

-- name: rotate_webhook_secret
-- The former one signs beside it for a while.
UPDATE webhooks w
   SET former_secret = w.secret,
       former_until = now() + %(seconds)s * interval '1 second',
       secret = %(secret)s
 WHERE w.id = %(id)s AND {webhook_is_owned}
RETURNING {w.WebhookRow};

-- name: remove_webhook
-- With all of its deliveries.
WITH removed AS (
    DELETE FROM webhooks w WHERE w.id = %(id)s AND {webhook_is_owned} RETURNING w.id
), dropped AS (
    DELETE FROM deliveries d USING removed r WHERE d.target_id = r.id
)
SELECT id FROM removed;

-- name: test_webhook
-- A delivery of an event that is none, to see that it comes; nothing if it is switched off.
INSERT INTO deliveries (id, target, target_id, event_id, kind, user_id, detail)
SELECT gen_random_uuid(), 'webhook', w.id, gen_random_uuid(), 'test', %(by)s, '{}'
  FROM webhooks w
 WHERE w.id = %(id)s AND {webhook_is_owned} AND w.disabled_at IS NULL
RETURNING {DeliveryRow};

-- name: webhook_deliveries
-- The newest first, below the one that was seen last.
WITH seen AS (SELECT created_at, id FROM deliveries WHERE id = %(before)s)
SELECT {d.DeliveryRow}
  FROM webhooks w JOIN deliveries d ON d.target_id = w.id
 WHERE w.id = %(id)s AND {webhook_is_owned}
   AND (%(state)s::text IS NULL OR d.state = %(state)s::text)
   AND (NOT EXISTS (SELECT FROM seen)
        OR (d.created_at, d.id) < (SELECT s.created_at, s.id FROM seen s))
 ORDER BY d.created_at DESC, d.id DESC
 LIMIT %(count)s;

-- name: replay_delivery
-- Send it again from the beginning, under the same id; nothing if its webhook is switched off.
UPDATE deliveries d
   SET state = 'waiting', due_at = now(), attempts_count = 0, finished_at = NULL
  FROM webhooks w
 WHERE d.id = %(delivery)s AND d.target_id = w.id AND w.id = %(id)s AND {webhook_is_owned}
   AND w.disabled_at IS NULL
RETURNING {d.DeliveryRow};
