-- The whole catalogue, read at once: these statements are sent together and see one snapshot.

-- part: provider_row
-- A provider `p` as stored.provider_of reads it: its keys in the order in which they are used.
p.id, p.type, p.name, p.display_name, p.icon, p.enabled, p.base_url, p.settings, p.sealed_settings,
p.created_at, p.updated_at,
ARRAY(SELECT k.id FROM ai_provider_keys k WHERE k.provider_id = p.id ORDER BY k.position, k.id),
ARRAY(SELECT k.sealed FROM ai_provider_keys k WHERE k.provider_id = p.id ORDER BY k.position, k.id),
ARRAY(SELECT k.masked FROM ai_provider_keys k WHERE k.provider_id = p.id ORDER BY k.position, k.id),
ARRAY(SELECT k.created_at FROM ai_provider_keys k WHERE k.provider_id = p.id
       ORDER BY k.position, k.id)

-- part: model_row
-- As it is stored.StoredModel.
id, provider_id, model, display_name, enabled, is_default, context_limit, compression_threshold,
call, created_at, updated_at

-- name: catalogue_providers
-- All providers that were not removed.
SELECT {provider_row} FROM ai_providers p WHERE p.deleted_at IS NULL ORDER BY p.created_at, p.id;

-- name: provider
-- One provider, unless it was removed.
SELECT {provider_row} FROM ai_providers p WHERE p.id = %(id)s AND p.deleted_at IS NULL;

-- name: model_config
-- One model, unless it was removed.
SELECT {model_row} FROM model_configs WHERE id = %(id)s AND deleted_at IS NULL;

-- name: catalogue_models
-- All models that were not removed.
SELECT {model_row} FROM model_configs WHERE deleted_at IS NULL ORDER BY created_at, id;

-- name: catalogue_known
-- The provider of every model that a message may name, also of those that were removed.
SELECT id, provider_id FROM model_configs
 UNION ALL
SELECT id, provider_id FROM offered_models;

-- name: catalogue_settings
-- The settings of the deployment.
SELECT name, value FROM settings;

-- name: own_settings
-- The settings of a user.
SELECT name, value FROM user_settings WHERE user_id = %(user)s;

-- name: own_keys
-- The keys that a user has brought, sealed.
SELECT provider_id, sealed FROM user_provider_keys WHERE user_id = %(user)s;

-- name: remember_offered
-- Store models of the environment, because messages will name them.
INSERT INTO offered_models (id, provider_id, label)
SELECT * FROM unnest(%(ids)s::uuid[], %(providers)s::uuid[], %(labels)s::text[])
    ON CONFLICT (id) DO NOTHING;

-- name: examine_providers
-- What doctor looks at: each provider with the first of its keys, which is the one in use, how many
-- keys and models it has, and how many users have brought a key of their own.
SELECT p.id, p.name, p.type, p.enabled, k.id, k.sealed,
       (SELECT count(*) FROM ai_provider_keys a WHERE a.provider_id = p.id),
       (SELECT count(*) FROM model_configs m
         WHERE m.provider_id = p.id AND m.enabled AND m.deleted_at IS NULL),
       (SELECT count(*) FROM user_provider_keys u WHERE u.provider_id = p.id)
  FROM ai_providers p
  LEFT JOIN LATERAL (SELECT a.id, a.sealed FROM ai_provider_keys a WHERE a.provider_id = p.id
                      ORDER BY a.position, a.id LIMIT 1) k ON true
 WHERE p.deleted_at IS NULL ORDER BY p.created_at, p.id;
