-- Legal holds: families of chats, and users, of which nothing is erased.

-- column: HoldRow.username
-- The name of the user `u`, if the hold is on one.
u.username

-- column: HoldRow.title
-- The title of the root `c`, if the hold is on a family.
c.title

-- column: HoldRow.set_by_name
-- The name of the admin `s` who set it.
s.username

-- name: lock_holds
-- Wait until no erasure begins, and let none begin for this transaction.
SELECT pg_advisory_xact_lock(%(lock)s);

-- name: hold_chat
-- Put a family on hold, unless it is being erased; one that is on hold gets another reason.
INSERT INTO legal_holds AS h (root_id, reason, set_by)
SELECT c.id, %(reason)s, %(set_by)s FROM chats c
 WHERE c.id = %(root)s AND NOT {being_erased}
    ON CONFLICT (root_id) DO UPDATE SET reason = excluded.reason
RETURNING h.id;

-- name: hold_user
-- The same of a user.
INSERT INTO legal_holds AS h (user_id, reason, set_by)
SELECT u.id, %(reason)s, %(set_by)s FROM users u WHERE u.id = %(user)s
    ON CONFLICT (user_id) DO UPDATE SET reason = excluded.reason
RETURNING h.id;

-- part: the_holds
-- Holds `h` with the names of what they are about.
  FROM legal_holds h
  JOIN users s ON s.id = h.set_by
  LEFT JOIN users u ON u.id = h.user_id
  LEFT JOIN chats c ON c.id = h.root_id

-- name: holds
-- The holds there are, the newest first: all, or those on a family or a user.
SELECT {h.HoldRow} {the_holds}
 WHERE (%(root)s::uuid IS NULL OR h.root_id = %(root)s)
   AND (%(user)s::uuid IS NULL OR h.user_id = %(user)s)
 ORDER BY h.set_at DESC, h.id LIMIT %(most)s;

-- name: count_holds
-- How many there are: on families, on users, and since when the first.
SELECT count(h.root_id), count(h.user_id), min(h.set_at)::date::text FROM legal_holds h;

-- name: holds_on_chat
-- The holds that keep a family from being erased: its own, and its owner's.
SELECT {h.HoldRow} {the_holds}
 WHERE h.root_id = %(root)s OR h.user_id = %(owner)s
 ORDER BY h.root_id IS NULL, h.id;

-- name: release_hold
-- Lift a hold.
DELETE FROM legal_holds
 WHERE root_id = %(root)s::uuid OR user_id = %(user)s::uuid
RETURNING id;

-- name: holds_of_root
-- Whether anything keeps this family from being erased: one row if so.
SELECT 1 FROM chats c WHERE c.id = %(root)s AND {chat_on_hold};
