-- Models as administrators write them. A transaction that changes the default holds the lock below,
-- so that there is never more than one, and none only if the environment offers one.

-- name: lock_default_model
-- Change the default one at a time; 667337 is "models" on a telephone's keys, as far as it goes.
SELECT pg_advisory_xact_lock(776678, 667337);

-- name: add_model
-- Add a model; the next statements say whether it is the default.
INSERT INTO model_configs
       (id, provider_id, model, display_name, enabled, context_limit, compression_threshold, call)
VALUES (%(id)s, %(provider_id)s, %(model)s, %(display_name)s, %(enabled)s, %(context_limit)s,
        %(compression_threshold)s, %(call)s);

-- name: change_model
-- Write all columns that may be changed.
UPDATE model_configs
   SET provider_id = %(provider_id)s, model = %(model)s, display_name = %(display_name)s,
       enabled = %(enabled)s, context_limit = %(context_limit)s,
       compression_threshold = %(compression_threshold)s, call = %(call)s, updated_at = now()
 WHERE id = %(id)s;

-- name: remove_model
-- Remove a model; nothing comes back if it was not there.
UPDATE model_configs SET deleted_at = now(), enabled = false, is_default = false
 WHERE id = %(id)s AND deleted_at IS NULL
RETURNING id;

-- name: unset_default_model
-- Unset the default, whichever it is; with an id, only if it is that one.
UPDATE model_configs SET is_default = false, updated_at = now()
 WHERE is_default AND id = coalesce(%(id)s::uuid, id);

-- name: set_default_model
-- Make this one the default; the former one has been unset before.
UPDATE model_configs SET is_default = true, updated_at = now()
 WHERE id = %(id)s AND deleted_at IS NULL AND NOT is_default;

-- name: promote_model
-- Make another model the default if there is none any more: enabled ones first, then the oldest.
-- The one that was just unset is the last choice.
UPDATE model_configs SET is_default = true, updated_at = now()
 WHERE id = (SELECT id FROM model_configs WHERE deleted_at IS NULL
              ORDER BY id = %(unset)s, enabled DESC, created_at, id
              LIMIT 1)
   AND NOT EXISTS (SELECT FROM model_configs WHERE is_default);
