-- The entries of the steps that this database has taken.

-- name: lock_migrations
-- One process at a time; the others wait here. Let go when the connection closes.
SELECT pg_advisory_lock(%(lock)s);

-- name: has_migrations
-- Whether this database has ever been ours.
SELECT to_regclass('schema_migrations') IS NOT NULL;

-- name: make_migrations
-- The very first step of all.
CREATE TABLE IF NOT EXISTS schema_migrations (
    version     integer PRIMARY KEY,
    name        text NOT NULL,
    checksum    text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now()
);

-- name: applied_migrations
-- What has been done here, in order.
SELECT version, name, checksum FROM schema_migrations ORDER BY version;

-- name: announce_migration
-- A step and its entry are one script, and a script has no parameters: it finds them here.
SELECT set_config('promptcorner.version', %(version)s::text, false),
       set_config('promptcorner.name', %(name)s, false),
       set_config('promptcorner.checksum', %(checksum)s, false);

-- name: record_migration
-- The entry of the step announced, in the step's own transaction.
INSERT INTO schema_migrations (version, name, checksum)
VALUES (current_setting('promptcorner.version')::integer,
        current_setting('promptcorner.name'),
        current_setting('promptcorner.checksum'));
