-- What a physician asks a server.

-- name: examine_server
-- Its version, its clock, whether we may make tables, how many may come, how much there is.
SELECT current_setting('server_version'),
       extract(epoch FROM clock_timestamp())::float8,
       has_schema_privilege(current_user, coalesce(current_schema(), 'public'), 'CREATE'),
       current_setting('max_connections')::integer,
       pg_database_size(current_database());
