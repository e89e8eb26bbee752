-- What models cost, kept for as long as the deployment: limits, what was spent within them, and what
-- calls in flight may still cost. Periods are days and months of UTC.

-- Groups of users, made by administrators. All users belong to the group of everyone, which has the
-- id of the organization and no row here.
CREATE TABLE groups (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name          text NOT NULL,
    display_name  text NOT NULL DEFAULT '',
    avatar_url    text NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX groups_name ON groups (lower(name));

CREATE TABLE group_members (
    user_id   uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    group_id  uuid NOT NULL REFERENCES groups ON DELETE CASCADE,
    PRIMARY KEY (user_id, group_id)
);

CREATE INDEX group_members_group ON group_members (group_id);

-- A limit of a user; of each member of a group; or of all users together, whose subject is nil.
CREATE TABLE spend_limits (
    scope        text NOT NULL CHECK (scope IN ('user', 'group', 'deployment')),
    subject_id   uuid NOT NULL,
    period       text NOT NULL CHECK (period IN ('day', 'month')),
    hard_micros  bigint CHECK (hard_micros >= 0), -- millionths of a US dollar; null: none
    soft_micros  bigint CHECK (soft_micros >= 0), -- likewise; beyond it a person is asked
    group_id     uuid, -- of a user: the group that their spend is counted for
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (scope, subject_id, period),
    CHECK (hard_micros IS NOT NULL OR soft_micros IS NOT NULL)
);

-- What one user, or all of them (nil), have spent in a period, and what is set aside for calls in
-- flight. There is a row only where a limit has been looked at.
CREATE TABLE spend_counters (
    subject_id       uuid NOT NULL,
    period           text NOT NULL CHECK (period IN ('day', 'month')),
    starts_on        date NOT NULL,
    spent_micros     bigint NOT NULL DEFAULT 0,
    reserved_micros  bigint NOT NULL DEFAULT 0,
    counted_at       timestamptz, -- null: what was spent has to be added up before it is looked at
    is_recounted     boolean NOT NULL DEFAULT false,
    PRIMARY KEY (subject_id, period, starts_on)
);

-- Calls in flight: each belongs to the process that makes it, and goes with it.
CREATE TABLE spend_reservations (
    id         uuid PRIMARY KEY,
    worker_id  uuid NOT NULL,
    chat_id    uuid NOT NULL,
    user_id    uuid NOT NULL,
    day        date NOT NULL,
    what       text NOT NULL,
    micros     bigint NOT NULL CHECK (micros >= 0),
    made_at    timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX spend_reservations_worker ON spend_reservations (worker_id);
CREATE INDEX spend_reservations_user ON spend_reservations (user_id, day);

-- Soft limits beyond which a person lets a family of chats go on, until the period is over.
CREATE TABLE spend_consents (
    root_id      uuid NOT NULL REFERENCES chats ON DELETE CASCADE,
    subject_id   uuid NOT NULL,
    period       text NOT NULL,
    starts_on    date NOT NULL,
    soft_micros  bigint NOT NULL,
    given_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (root_id, subject_id, period, starts_on)
);

-- What was bought without becoming a message, and what deleted chats had cost.
CREATE TABLE spend_days (
    day                    date NOT NULL,
    user_id                uuid NOT NULL,
    model_config_id        uuid NOT NULL, -- nil: it is not known
    what                   text NOT NULL, -- 'message': of chats that were deleted
    labels                 jsonb NOT NULL,
    labels_digest          text NOT NULL,
    micros                 bigint NOT NULL,
    requests               bigint NOT NULL,
    unpriced               bigint NOT NULL,
    input_tokens           bigint NOT NULL DEFAULT 0,
    output_tokens          bigint NOT NULL DEFAULT 0,
    cache_read_tokens      bigint NOT NULL DEFAULT 0,
    cache_creation_tokens  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (day, user_id, model_config_id, what, labels_digest)
);

INSERT INTO spend_days (day, user_id, model_config_id, what, labels, labels_digest, micros, requests,
                        unpriced)
SELECT (c.created_at AT TIME ZONE 'UTC')::date, c.owner_id,
       coalesce(c.last_model_config_id, '00000000-0000-0000-0000-000000000000'), s.what, c.labels,
       md5(c.labels::text), sum(s.micros), sum(s.requests), sum(s.unpriced)
  FROM side_costs s JOIN chats c ON c.id = s.chat_id
 GROUP BY 1, 2, 3, 4, 5;

-- Messages lie in the order of their times, so this costs a write next to nothing.
CREATE INDEX messages_created ON messages USING brin (created_at) WITH (autosummarize = on);

-- What messages cost is still known when they are gone: it is added up as they go. The messages of
-- a chat go before it, because they are counted for its owner and its labels.
CREATE FUNCTION delete_messages_first() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM messages WHERE chat_id = OLD.id;
    RETURN OLD;
END $$;

CREATE TRIGGER chats_spend BEFORE DELETE ON chats FOR EACH ROW
    EXECUTE FUNCTION delete_messages_first();

CREATE FUNCTION keep_spend_of_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO spend_days AS known (
        day, user_id, model_config_id, what, labels, labels_digest, micros, requests, unpriced,
        input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens)
    SELECT (m.created_at AT TIME ZONE 'UTC')::date, c.owner_id,
           coalesce(m.model_config_id, '00000000-0000-0000-0000-000000000000'), 'message',
           k.labels, md5(k.labels::text), coalesce(sum(m.cost_micros), 0), count(*),
           count(*) FILTER (WHERE m.cost_micros IS NULL),
           coalesce(sum(m.input_tokens), 0), coalesce(sum(m.output_tokens), 0),
           coalesce(sum(m.cache_read_tokens), 0), coalesce(sum(m.cache_creation_tokens), 0)
      FROM gone m JOIN chats c ON c.id = m.chat_id,
           LATERAL (SELECT coalesce((SELECT r.labels FROM chats r WHERE r.id = c.root_id), c.labels)
                        AS labels) AS k
     WHERE m.cost_source IS NOT NULL
     GROUP BY 1, 2, 3, 5
    ON CONFLICT (day, user_id, model_config_id, what, labels_digest) DO UPDATE
       SET micros = known.micros + excluded.micros,
           requests = known.requests + excluded.requests,
           unpriced = known.unpriced + excluded.unpriced,
           input_tokens = known.input_tokens + excluded.input_tokens,
           output_tokens = known.output_tokens + excluded.output_tokens,
           cache_read_tokens = known.cache_read_tokens + excluded.cache_read_tokens,
           cache_creation_tokens = known.cache_creation_tokens + excluded.cache_creation_tokens;
    RETURN NULL;
END $$;

CREATE TRIGGER messages_spend AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION keep_spend_of_messages();
