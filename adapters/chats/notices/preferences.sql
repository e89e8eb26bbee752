-- The kinds of notices that users have switched off. They are settings of the user; `file_event` of
-- the schema reads them by the same names.

-- name: notice_preferences
-- The kinds that a user has ever switched.
SELECT substr(name, length('notice_off/') + 1), value::text = 'true', updated_at
  FROM user_settings WHERE user_id = %(user)s AND starts_with(name, 'notice_off/');

-- name: switch_notices
-- Switch kinds off or on.
INSERT INTO user_settings (user_id, name, value)
SELECT %(user)s, 'notice_off/' || s.kind, to_json(s.is_off)
  FROM unnest(%(kinds)s::text[], %(are_off)s::boolean[]) AS s(kind, is_off)
    ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value, updated_at = now();
