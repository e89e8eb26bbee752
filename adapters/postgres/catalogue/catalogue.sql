-- All that the catalogue knows, read at once: its statements are sent together and see one snapshot.

-- name: catalogue_providers
-- Those that stand, with their keys in the order in which they are used.
SELECT p.id, p.type, p.name, p.display_name, p.icon, p.enabled, p.base_url, p.settings,
       p.sealed_settings, p.created_at, p.updated_at,
       coalesce(array_agg(k.id ORDER BY k.created_at, k.position, k.id)
                FILTER (WHERE k.id IS NOT NULL), '{}'),
       coalesce(array_agg(k.sealed ORDER BY k.created_at, k.position, k.id)
                FILTER (WHERE k.id IS NOT NULL), '{}'),
       coalesce(array_agg(k.masked ORDER BY k.created_at, k.position, k.id)
                FILTER (WHERE k.id IS NOT NULL), '{}'),
       coalesce(array_agg(k.created_at ORDER BY k.created_at, k.position, k.id)
                FILTER (WHERE k.id IS NOT NULL), '{}')
  FROM ai_providers p
  LEFT JOIN ai_provider_keys k ON k.provider_id = p.id
 WHERE p.deleted_at IS NULL
 GROUP BY p.id
 ORDER BY p.created_at, p.id;

-- name: catalogue_models
-- Those that stand.
SELECT id, provider_id, model, display_name, enabled, is_default, context_limit,
       compression_threshold, call, created_at, updated_at
  FROM model_configs
 WHERE deleted_at IS NULL
 ORDER BY created_at, id;

-- name: catalogue_known
-- Whose model it was, for every model that a message may name.
SELECT id, provider_id FROM model_configs
 UNION ALL
SELECT id, provider_id FROM offered_models;

-- name: catalogue_settings
-- What is set for the deployment.
SELECT name, value FROM settings;

-- name: own_settings
-- What is set for a user.
SELECT name, value FROM user_settings WHERE user_id = %(user)s;

-- name: own_keys
-- The keys that a user has brought.
SELECT provider_id, sealed FROM user_provider_keys WHERE user_id = %(user)s;

-- name: remember_offered
-- Models of the environment, for the messages that will name them.
INSERT INTO offered_models (id, provider_id, label)
SELECT * FROM unnest(%(ids)s::uuid[], %(providers)s::uuid[], %(labels)s::text[])
    ON CONFLICT (id) DO NOTHING;
