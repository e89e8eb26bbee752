-- Providers, their keys, models, and what is set for the deployment and for each user.
--
-- A provider of the environment has no row here: its id is made of its name. So nothing refers to
-- ai_providers but its own keys, and a model or a user's key may be one of either kind.
--
-- What is sealed can be read with the master key only; what is masked is for people to look at.

CREATE TABLE ai_providers (
    id               uuid PRIMARY KEY,
    type             text NOT NULL,
    name             text NOT NULL CHECK (name ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    display_name     text NOT NULL DEFAULT '',
    icon             text NOT NULL DEFAULT '',
    enabled          boolean NOT NULL,
    base_url         text NOT NULL, -- as it was written
    settings         json,          -- of bedrock; without its secrets
    sealed_settings  bytea,         -- these
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    deleted_at       timestamptz,
    CHECK (deleted_at IS NULL OR NOT enabled)
);

CREATE UNIQUE INDEX ai_providers_name ON ai_providers (name) WHERE deleted_at IS NULL;

CREATE TABLE ai_provider_keys (
    id           uuid PRIMARY KEY,
    provider_id  uuid NOT NULL REFERENCES ai_providers ON DELETE CASCADE,
    sealed       bytea NOT NULL,
    masked       text NOT NULL,
    position     integer NOT NULL, -- the first is the one in use
    created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX ai_provider_keys_provider ON ai_provider_keys (provider_id);

CREATE TABLE user_provider_keys (
    user_id      uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    provider_id  uuid NOT NULL,
    sealed       bytea NOT NULL,
    updated_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, provider_id)
);

-- A deleted model stays: messages name it, and with it whose they are.
CREATE TABLE model_configs (
    id                     uuid PRIMARY KEY,
    provider_id            uuid NOT NULL,
    model                  text NOT NULL CHECK (model <> ''),
    display_name           text NOT NULL DEFAULT '',
    enabled                boolean NOT NULL,
    is_default             boolean NOT NULL DEFAULT false,
    context_limit          bigint NOT NULL CHECK (context_limit > 0),
    compression_threshold  integer NOT NULL CHECK (compression_threshold BETWEEN 0 AND 100),
    call                   json NOT NULL, -- how it is called, as clients write it
    created_at             timestamptz NOT NULL DEFAULT now(),
    updated_at             timestamptz NOT NULL DEFAULT now(),
    deleted_at             timestamptz,
    CHECK (deleted_at IS NULL OR NOT (enabled OR is_default))
);

CREATE UNIQUE INDEX model_configs_default ON model_configs (is_default) WHERE is_default;

-- Models that the environment has offered at some time. They are offered no longer when a variable
-- changes, but messages name them still.
CREATE TABLE offered_models (
    id           uuid PRIMARY KEY,
    provider_id  uuid NOT NULL,
    label        text NOT NULL, -- provider/model
    offered_at   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE settings (
    name        text PRIMARY KEY,
    value       json NOT NULL,
    updated_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE user_settings (
    user_id     uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    name        text NOT NULL,
    value       json NOT NULL,
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, name)
);

CREATE TABLE user_skills (
    id           uuid PRIMARY KEY,
    user_id      uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    name         text NOT NULL,
    description  text NOT NULL,
    content      text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, name)
);
