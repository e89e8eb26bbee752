-- Web push: the key pair of the deployment, and the browsers of users.

-- name: push_keys
-- The one pair, if it was made.
SELECT public_key, private_key FROM push_keys;

-- name: add_push_keys
-- The first process that needs it makes it; the others read what it made.
INSERT INTO push_keys (public_key, private_key) VALUES (%(public)s, %(private)s)
    ON CONFLICT DO NOTHING;

-- name: replace_push_keys
-- Another pair: no browser that has subscribed knows it, so all subscriptions go.
WITH dropped AS (DELETE FROM push_subscriptions)
INSERT INTO push_keys (public_key, private_key) VALUES (%(public)s, %(private)s)
    ON CONFLICT (only_one) DO UPDATE
   SET public_key = excluded.public_key, private_key = excluded.private_key, created_at = now();

-- name: add_push_subscription
-- A browser has one user at a time: those who used it before are not pushed to it any more. Above the
-- most that a user may have the oldest goes.
WITH former AS (
    DELETE FROM push_subscriptions WHERE endpoint = %(endpoint)s AND user_id <> %(user)s
), surplus AS (
    DELETE FROM push_subscriptions
     WHERE id IN (SELECT id FROM push_subscriptions
                   WHERE user_id = %(user)s AND endpoint <> %(endpoint)s
                   ORDER BY created_at DESC, id OFFSET %(most)s - 1)
)
INSERT INTO push_subscriptions (id, user_id, endpoint, keys)
VALUES (%(id)s, %(user)s, %(endpoint)s, %(keys)s)
    ON CONFLICT (user_id, endpoint) DO UPDATE SET id = excluded.id, keys = excluded.keys;

-- name: remove_push_subscription
-- One of the user's own.
DELETE FROM push_subscriptions WHERE user_id = %(user)s AND endpoint = %(endpoint)s RETURNING id;

-- name: push_subscriptions
-- The browsers of a user, the oldest first.
SELECT id, endpoint, created_at FROM push_subscriptions
 WHERE user_id = %(user)s ORDER BY created_at, id;

-- name: watch_on_device
-- What a browser shows now, and for how long that holds unless it says so again; null: no chat.
UPDATE push_subscriptions
   SET watching_chat = %(chat)s::uuid,
       watching_until = now() + %(seconds)s * interval '1 second'
 WHERE user_id = %(user)s AND endpoint = %(endpoint)s
RETURNING id;

-- name: test_push
-- A message to each browser of a user, to see that it comes.
INSERT INTO deliveries (id, target, target_id, event_id, kind, user_id, detail)
SELECT gen_random_uuid(), 'push', s.id, gen_random_uuid(), 'test', s.user_id, '{}'
  FROM push_subscriptions s
 WHERE s.user_id = %(user)s
RETURNING id;
