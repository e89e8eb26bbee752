-- Users switch kinds of notices off: then these are filed neither into the inbox nor for devices.

CREATE INDEX deliveries_of_user ON deliveries (user_id); -- with the erasure of a user they go

-- File one event: into the inbox of its user (a plain status is only for webhooks), and for each
-- device and webhook that wants it. Returns how many deliveries wait because of it.
CREATE OR REPLACE FUNCTION file_event(
    the_user uuid, the_kind text, the_chat uuid, the_event text, the_detail json
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    the_id uuid := md5(the_event)::uuid;
    chat record;
    hooks integer;
    devices integer := 0;
BEGIN
    SELECT coalesce(c.root_id, c.parent_id, c.id) AS root, c.title INTO chat
      FROM chats c WHERE c.id = the_chat;
    IF the_kind <> 'status' AND NOT EXISTS (
        SELECT FROM user_settings s
         WHERE s.user_id = the_user AND s.name = 'notice_off/' || the_kind
           AND s.value::text = 'true'
    ) THEN
        INSERT INTO notices (id, user_id, kind, chat_id, detail)
        VALUES (md5(concat(the_user, ' ', the_event))::uuid, the_user, the_kind, chat.root,
                the_detail)
            ON CONFLICT (id) DO NOTHING;
        IF NOT FOUND THEN
            RETURN 0;
        END IF;
        IF the_kind IN ('needs_you', 'ended', 'failed', 'shared') THEN
            INSERT INTO deliveries (
                id, target, target_id, event_id, kind, user_id, chat_id, root_id, title, detail)
            SELECT md5(concat(s.id, ' ', the_event))::uuid, 'push', s.id, the_id, the_kind,
                   the_user, the_chat, chat.root, chat.title, the_detail
              FROM push_subscriptions s
             WHERE s.user_id = the_user
                ON CONFLICT (id) DO NOTHING;
            GET DIAGNOSTICS devices = ROW_COUNT;
        END IF;
    END IF;
    INSERT INTO deliveries (
        id, target, target_id, event_id, kind, user_id, chat_id, root_id, title, detail)
    SELECT md5(concat(w.id, ' ', the_user, ' ', the_event))::uuid, 'webhook', w.id, the_id,
           the_kind, the_user, the_chat, chat.root, coalesce(chat.title, ''), the_detail
      FROM webhooks w
     WHERE (w.owner_id = the_user OR w.owner_id IS NULL)
       AND w.disabled_at IS NULL AND the_kind = ANY(w.kinds)
        ON CONFLICT (id) DO NOTHING;
    GET DIAGNOSTICS hooks = ROW_COUNT;
    RETURN hooks + devices;
END $$;
