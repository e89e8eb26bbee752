-- What a database is asked before it is written down or filled.

-- name: server_version
-- Programs of PostgreSQL say things that older servers do not understand.
SELECT current_setting('server_version_num')::integer, current_setting('server_version');

-- name: relations_there
-- Of all but the server itself: a database is filled only where there are none.
SELECT count(*)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%%';
