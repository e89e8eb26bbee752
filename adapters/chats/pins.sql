-- What users have pinned: numbered from 1 on, without a gap, for each owner.

-- name: lock_pins
-- One at a time moves the pins of this owner.
SELECT FROM users WHERE id = %(owner)s FOR NO KEY UPDATE;

-- name: pins
-- What is pinned, in its order.
SELECT id FROM chats WHERE owner_id = %(owner)s AND pin_order > 0 ORDER BY pin_order, id;

-- name: write_pins
-- Number them so; what is not among them is pinned no more. What was archived meanwhile is left.
WITH wanted AS (
    SELECT o.id, o.at::integer AS place
      FROM unnest(%(order)s::uuid[]) WITH ORDINALITY AS o(id, at)
     UNION ALL
    SELECT p.id, 0
      FROM chats p
     WHERE p.owner_id = %(owner)s AND p.pin_order > 0 AND p.id <> ALL (%(order)s::uuid[])
), locked AS MATERIALIZED (
    SELECT c.id, w.place
      FROM wanted w JOIN chats c ON c.id = w.id
     WHERE c.pin_order <> w.place AND NOT c.archived
     ORDER BY {lock_order}
       FOR NO KEY UPDATE OF c
)
UPDATE chats c SET pin_order = l.place FROM locked l WHERE c.id = l.id;
