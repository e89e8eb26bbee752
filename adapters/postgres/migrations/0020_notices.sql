-- News for people and for programs of others: the inbox, devices that are pushed to, webhooks.
--
-- The write of a chat hands its news (actors/law/store/news.py decides which change is news) to
-- `file_news`, in the same statement. So what is told was committed, and what was committed is told.
-- A change without news hands over null, and then the function is not called at all.

-- The inbox. The id is made of the user and the event, so an event stands in it once.
CREATE TABLE notices (
    id          uuid PRIMARY KEY,
    user_id     uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    kind        text NOT NULL,
    chat_id     uuid REFERENCES chats ON DELETE CASCADE, -- the chat that it leads to
    detail      json NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now(),
    read_at     timestamptz
);

CREATE INDEX notices_of_user ON notices (user_id, created_at DESC, id DESC);
CREATE INDEX notices_of_chat ON notices (chat_id) WHERE chat_id IS NOT NULL;

-- Programs of others that are told of events. Without an owner: of all users.
CREATE TABLE webhooks (
    id             uuid PRIMARY KEY,
    owner_id       uuid REFERENCES users ON DELETE CASCADE,
    url            text NOT NULL,
    description    text NOT NULL DEFAULT '',
    kinds          text[] NOT NULL,
    secret         bytea NOT NULL, -- sealed
    former_secret  bytea,          -- sealed; signs beside the other until then
    former_until   timestamptz,
    created_by     uuid NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    failing_since  timestamptz, -- null: the last attempt was answered well, or there was none
    disabled_at    timestamptz,
    disabled_why   text NOT NULL DEFAULT '' -- '': its owner has switched it off
);

CREATE INDEX webhooks_of_owner ON webhooks (owner_id);

-- Browsers that are pushed to. What a device is looking at is not pushed to it.
CREATE TABLE push_subscriptions (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    endpoint        text NOT NULL,
    keys            bytea NOT NULL, -- sealed
    created_at      timestamptz NOT NULL DEFAULT now(),
    watching_chat   uuid,
    watching_until  timestamptz,
    UNIQUE (user_id, endpoint)
);

-- The key pair by which push services know this deployment. There is one.
CREATE TABLE push_keys (
    only_one    boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    public_key  text NOT NULL,
    private_key bytea NOT NULL, -- sealed
    created_at  timestamptz NOT NULL DEFAULT now()
);

-- The outbox: what is to be sent, and for a while what was. `target_id` is a webhook or a
-- subscription, without a reference: that would lock its row in every commit that has news.
CREATE TABLE deliveries (
    id              uuid PRIMARY KEY,
    target          text NOT NULL CHECK (target IN ('webhook', 'push')),
    target_id       uuid NOT NULL,
    event_id        uuid NOT NULL,
    kind            text NOT NULL,
    user_id         uuid NOT NULL,
    chat_id         uuid REFERENCES chats ON DELETE CASCADE,
    root_id         uuid,
    title           text NOT NULL DEFAULT '',
    detail          json NOT NULL DEFAULT '{}',
    created_at      timestamptz NOT NULL DEFAULT now(),
    state           text NOT NULL DEFAULT 'waiting'
                    CHECK (state IN ('waiting', 'delivered', 'failed', 'left_out')),
    due_at          timestamptz NOT NULL DEFAULT now(), -- a claim moves it on
    claims_count    integer NOT NULL DEFAULT 0, -- the fence of a claim
    attempts_count  integer NOT NULL DEFAULT 0,
    last_status     integer,
    last_error      text NOT NULL DEFAULT '',
    finished_at     timestamptz
) WITH (fillfactor = 80);

CREATE INDEX deliveries_due ON deliveries (target_id, due_at) WHERE state = 'waiting';
CREATE INDEX deliveries_of_target ON deliveries (target_id, created_at DESC, id DESC);
CREATE INDEX deliveries_of_chat ON deliveries (chat_id) WHERE chat_id IS NOT NULL;
CREATE INDEX deliveries_finished ON deliveries (finished_at) WHERE finished_at IS NOT NULL;

-- File one event: into the inbox of its user (a plain status is only for webhooks), and for each
-- device and webhook that wants it. Returns how many deliveries wait because of it.
CREATE FUNCTION file_event(
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
    IF the_kind <> 'status' THEN
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

-- File the news of one write of a chat.
CREATE FUNCTION file_news(the_chat uuid, the_snapshot bigint, the_news json)
RETURNS integer LANGUAGE plpgsql STRICT AS $$
BEGIN
    RETURN (SELECT sum(file_event(c.owner_id, n.kind, c.id,
                                  concat('chat/', c.id, '@', the_snapshot, ' ', n.kind), n.detail))
              FROM chats c, json_to_recordset(the_news) AS n(kind text, detail json)
             WHERE c.id = the_chat);
END $$;
