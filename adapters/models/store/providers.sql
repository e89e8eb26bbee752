-- Providers as administrators write them, and the keys that users bring.

-- name: add_provider
-- Add a provider; nothing comes back if there is one of this name already.
INSERT INTO ai_providers
       (id, type, name, display_name, icon, enabled, base_url, settings, sealed_settings)
VALUES (%(id)s, %(type)s, %(name)s, %(display_name)s, %(icon)s, %(enabled)s, %(base_url)s,
        %(settings)s, %(sealed_settings)s)
    ON CONFLICT (name) WHERE deleted_at IS NULL DO NOTHING
RETURNING id;

-- name: lock_provider
-- Keep others from changing it or its keys until this transaction is over.
SELECT id FROM ai_providers WHERE id = %(id)s AND deleted_at IS NULL FOR UPDATE;

-- name: change_provider
-- Write all columns that may be changed.
UPDATE ai_providers
   SET display_name = %(display_name)s, icon = %(icon)s, enabled = %(enabled)s,
       base_url = %(base_url)s, settings = %(settings)s, sealed_settings = %(sealed_settings)s,
       updated_at = now()
 WHERE id = %(id)s;

-- name: remove_provider
-- Remove a provider and its keys. Its name is free again; its models stay and cannot be used.
WITH removed AS (
    UPDATE ai_providers SET deleted_at = now(), enabled = false, sealed_settings = NULL
     WHERE id = %(id)s AND deleted_at IS NULL
    RETURNING id
), keys AS (
    DELETE FROM ai_provider_keys k USING removed r WHERE k.provider_id = r.id
), own AS (
    DELETE FROM user_provider_keys k USING removed r WHERE k.provider_id = r.id
)
SELECT id FROM removed;

-- name: keep_provider_keys
-- Remove all keys of a provider but these.
DELETE FROM ai_provider_keys WHERE provider_id = %(id)s AND id <> ALL (%(kept)s::uuid[]);

-- name: add_provider_keys
-- Add keys after those that are there, in the order in which they are to be used.
INSERT INTO ai_provider_keys (id, provider_id, sealed, masked, position)
SELECT k.id, %(id)s, k.sealed, k.masked, k.place
       + coalesce((SELECT max(position) FROM ai_provider_keys WHERE provider_id = %(id)s), 0)
  FROM unnest(%(ids)s::uuid[], %(sealed)s::bytea[], %(masked)s::text[])
       WITH ORDINALITY AS k (id, sealed, masked, place);

-- name: bring_key
-- Store a user's key in the place of the one that was there.
INSERT INTO user_provider_keys (user_id, provider_id, sealed)
VALUES (%(user)s, %(provider)s, %(sealed)s)
    ON CONFLICT (user_id, provider_id) DO UPDATE SET sealed = excluded.sealed, updated_at = now();

-- name: take_key_back
-- Remove a user's key, if there is one.
DELETE FROM user_provider_keys WHERE user_id = %(user)s AND provider_id = %(provider)s;
