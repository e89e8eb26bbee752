-- What a physician asks a server.

-- name: take_room
-- A table of a mebibyte, where those of the database are; gone with its transaction.
CREATE TEMPORARY TABLE room ON COMMIT DROP AS
SELECT md5(n::text) AS filler FROM generate_series(1, 20000) AS n;

-- name: examine_server
-- Its version, its clock, whether we may make tables, how many may come, how much there is.
SELECT current_setting('server_version'),
       extract(epoch FROM clock_timestamp())::float8,
       has_schema_privilege(current_user, coalesce(current_schema(), 'public'), 'CREATE'),
       current_setting('max_connections')::integer,
       pg_database_size(current_database());
