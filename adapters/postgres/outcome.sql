-- name: ask_xid
-- The id of the running transaction; null as long as it has written nothing.
SELECT pg_current_xact_id_if_assigned();

-- part: era
-- Changes when the server crashes (it throws its statistics away) or another one takes over (its
-- WAL has a new timeline). Of the statistics these are the ones that are not reset by hand.
concat(
    (SELECT max(stats_reset) FROM pg_stat_slru), ' ',
    CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END
)

-- name: ask_era
-- Asked once for each connection, before anything can be lost.
SELECT {era};

-- name: look_around
-- Where we are now, compared with where the lost transaction was, and the first id that was not
-- known to have been given out at the newest checkpoint: after a crash, the one that ended it.
SELECT pg_is_in_recovery(), {era},
       (split_part(next_xid, ':', 1)::bigint << 32) + split_part(next_xid, ':', 2)::bigint
  FROM pg_control_checkpoint();

-- name: ask_outcome
-- committed, aborted, in progress; null if it is too long ago. An id in the future is an error.
SELECT pg_xact_status(%(xid)s::xid8);

-- name: end_backend
-- It waits for a COMMIT that is lost, or has yet to find out that its client is gone. The call is
-- in the list, not in WHERE, where it would be made for every backend there is.
SELECT pg_terminate_backend(pid)
  FROM pg_stat_activity
 WHERE pid = %(backend)s AND backend_xid = %(xid)s::xid8::xid;
