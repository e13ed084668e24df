-- One text for SQLite and PostgreSQL. Times are milliseconds since 1970, by
-- the database's clock, now_ms(), which migration 1 makes.

-- +goose Up
CREATE TABLE accounts (
    id           TEXT PRIMARY KEY,
    email        TEXT NOT NULL UNIQUE, -- in lower case
    password     TEXT NOT NULL,        -- argon2id, in its own encoding
    epoch        BIGINT NOT NULL,      -- sessions of an older one are over
    credits      BIGINT NOT NULL CHECK (credits >= 0),
    plan         TEXT NOT NULL,        -- the one subscribed to, else the last one granted, or empty
    confirmed_at BIGINT,               -- null: a mail to email has yet to arrive
    created_at   BIGINT NOT NULL
);

-- What mails ask people to come back with.
CREATE TABLE mail_tokens (
    hash       TEXT PRIMARY KEY, -- SHA-256 of the token, in hex
    account_id TEXT NOT NULL REFERENCES accounts (id),
    purpose    TEXT NOT NULL CHECK (purpose IN ('reset', 'confirm')),
    expires_at BIGINT NOT NULL
);
CREATE INDEX mail_tokens_account ON mail_tokens (account_id, purpose);
CREATE INDEX mail_tokens_expiry ON mail_tokens (expires_at);

CREATE TABLE api_keys (
    id           TEXT PRIMARY KEY,
    account_id   TEXT NOT NULL REFERENCES accounts (id),
    name         TEXT NOT NULL,
    prefix       TEXT NOT NULL,        -- the start of the key, to tell it by
    hash         TEXT NOT NULL UNIQUE, -- SHA-256 of the key, in hex
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at   BIGINT
);
CREATE INDEX api_keys_account ON api_keys (account_id, id);

CREATE TABLE sessions (
    id         TEXT PRIMARY KEY, -- SHA-256 of the token, in hex
    data       BYTEA NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Never updated, never deleted: accounts.credits is the sum.
CREATE TABLE ledger (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    kind       TEXT NOT NULL,
    amount     BIGINT NOT NULL,
    job_id     TEXT,
    note       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CHECK (kind = 'grant' AND amount > 0 AND job_id IS NULL
        OR kind = 'charge' AND amount < 0 AND job_id IS NOT NULL
        OR kind = 'refund' AND amount > 0 AND job_id IS NOT NULL
        OR kind = 'reversal' AND amount <= 0 AND job_id IS NULL)
);
CREATE INDEX ledger_account ON ledger (account_id, id);
-- A job is charged once and refunded once.
CREATE UNIQUE INDEX ledger_once ON ledger (job_id, kind) WHERE job_id IS NOT NULL;

-- The turns of accounts: the one of the least vtime with work and a free place
-- is next.
CREATE TABLE queues (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    vtime      BIGINT NOT NULL, -- credits' worth of work begun, not below its peers'
    queued     BIGINT NOT NULL CHECK (queued >= 0),
    running    BIGINT NOT NULL CHECK (running >= 0),
    events     BIGINT NOT NULL  -- the number of the last event
);
CREATE INDEX queues_turn ON queues (vtime, account_id) WHERE queued > 0;
CREATE INDEX queues_busy ON queues (vtime) WHERE queued > 0 OR running > 0;
CREATE INDEX queues_vtime ON queues (vtime);

CREATE TABLE batches (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id     TEXT, -- null: made in the dashboard
    created_at BIGINT NOT NULL
);

CREATE TABLE jobs (
    id            TEXT PRIMARY KEY, -- sortable by time
    account_id    TEXT NOT NULL REFERENCES accounts (id),
    key_id        TEXT, -- null: made in the dashboard
    batch_id      TEXT REFERENCES batches (id),
    request_id    TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('queued', 'processing', 'done', 'failed')),
    error         TEXT, -- a code, only when failed
    options       TEXT NOT NULL, -- JSON
    output_format TEXT NOT NULL,
    original_name TEXT NOT NULL,
    input_key     TEXT, -- null once removed; jobs on one upload share it
    input_size    BIGINT NOT NULL,
    input_sha     TEXT NOT NULL, -- SHA-256, in hex
    input_type    TEXT NOT NULL, -- media type by its content, empty if it cannot be read
    frame_count   BIGINT NOT NULL,
    width         BIGINT NOT NULL,
    height        BIGINT NOT NULL,
    duration_ms   BIGINT NOT NULL,
    cost          BIGINT NOT NULL, -- price in credits
    charged       BIGINT NOT NULL, -- what was taken: cost, or 0 where credits are unlimited
    attempt       BIGINT NOT NULL, -- claims so far: who knows another number has lost the job
    lost          BIGINT NOT NULL, -- claims whose lease ran out
    lease_until   BIGINT, -- only when processing
    preview_key   TEXT, -- null before there is one and once removed
    preview_size  BIGINT,
    preview_sha   TEXT,
    output_key    TEXT, -- null before done and once removed
    output_size   BIGINT,
    output_sha    TEXT,
    placement     TEXT, -- JSON: where the input is in the output, null before done
    created_at    BIGINT NOT NULL,
    started_at    BIGINT, -- of the last try
    ended_at      BIGINT
);
-- With the state among the columns, since SQLite would take jobs_account for
-- pages of one state otherwise.
CREATE INDEX jobs_queued ON jobs (account_id, state, id) WHERE state = 'queued';
CREATE INDEX jobs_running ON jobs (account_id, state, id) WHERE state = 'processing';
CREATE INDEX jobs_failed ON jobs (account_id, state, id) WHERE state = 'failed';
CREATE INDEX jobs_waiting ON jobs (created_at) WHERE state = 'queued';
CREATE INDEX jobs_leases ON jobs (lease_until) WHERE state = 'processing';
CREATE INDEX jobs_key ON jobs (key_id, id) WHERE key_id IS NOT NULL;
CREATE INDEX jobs_account ON jobs (account_id, id);
CREATE INDEX jobs_batch ON jobs (batch_id, id) WHERE batch_id IS NOT NULL;
CREATE INDEX jobs_input ON jobs (input_key) WHERE input_key IS NOT NULL;
CREATE INDEX jobs_inputs ON jobs (ended_at) WHERE input_key IS NOT NULL AND ended_at IS NOT NULL;
CREATE INDEX jobs_outputs ON jobs (ended_at) WHERE output_key IS NOT NULL OR preview_key IS NOT NULL;

-- What has become of jobs, for an hour. Numbers have no gaps and come in the
-- order of commits: they are drawn from the account's row of queues, which a
-- transaction holds to its end.
CREATE TABLE job_events (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    seq        BIGINT NOT NULL,
    job_id     TEXT NOT NULL REFERENCES jobs (id),
    state      TEXT NOT NULL,
    error      TEXT,
    preview    BIGINT NOT NULL, -- 1 if there was one
    at         BIGINT NOT NULL,
    PRIMARY KEY (account_id, seq)
);
CREATE INDEX job_events_age ON job_events (at);

CREATE TABLE idempotency (
    scope       TEXT NOT NULL, -- the API key's id
    name        TEXT NOT NULL, -- what the header says
    token       TEXT NOT NULL, -- whose reservation it is
    fingerprint TEXT NOT NULL, -- of the request, empty while it runs
    answer      TEXT NOT NULL, -- JSON, empty while it runs
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (scope, name)
);
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

-- Customers of Stripe; of several of one account the last is the one in use.
CREATE TABLE stripe_customers (
    id         TEXT PRIMARY KEY, -- cus_…
    account_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL
);
CREATE INDEX stripe_customers_account ON stripe_customers (account_id, created_at);

-- What has been acted upon: an event comes at least once, in any order.
CREATE TABLE stripe_events (
    id         TEXT PRIMARY KEY, -- evt_…
    created_at BIGINT NOT NULL
);
CREATE INDEX stripe_events_age ON stripe_events (created_at);

-- What was paid, and what became of its credits.
CREATE TABLE payments (
    id         TEXT PRIMARY KEY, -- of Stripe: pi_… for a pack, in_… for a period
    account_id TEXT NOT NULL REFERENCES accounts (id),
    plan       TEXT NOT NULL,
    credits    BIGINT NOT NULL CHECK (credits >= 0),  -- granted; 0: lost before it was heard of
    amount     BIGINT NOT NULL CHECK (amount >= 0),   -- in the currency's smallest unit
    taken      BIGINT NOT NULL CHECK (taken >= 0),    -- credits taken back
    forgiven   BIGINT NOT NULL CHECK (forgiven >= 0), -- credits to be taken back that had been spent
    created_at BIGINT NOT NULL
);
CREATE INDEX payments_account ON payments (account_id, id);

-- What of payments was lost again.
CREATE TABLE payment_losses (
    id         TEXT PRIMARY KEY, -- of Stripe: ch_… refunded, du_… disputed
    payment_id TEXT NOT NULL REFERENCES payments (id),
    amount     BIGINT NOT NULL CHECK (amount >= 0),
    final      BIGINT NOT NULL -- 1: an event that comes late does not change it
);
CREATE INDEX payment_losses_payment ON payment_losses (payment_id);

CREATE TABLE subscriptions (
    id         TEXT PRIMARY KEY, -- sub_…
    account_id TEXT NOT NULL REFERENCES accounts (id),
    plan       TEXT NOT NULL, -- empty: a price that is no plan's
    status     TEXT NOT NULL, -- Stripe's word
    told_at    BIGINT NOT NULL -- seconds: when Stripe said so
);
CREATE INDEX subscriptions_account ON subscriptions (account_id, id);

-- +goose Down
DROP TABLE subscriptions;
DROP TABLE payment_losses;
DROP TABLE payments;
DROP TABLE stripe_events;
DROP TABLE stripe_customers;
DROP TABLE idempotency;
DROP TABLE job_events;
DROP TABLE jobs;
DROP TABLE batches;
DROP TABLE queues;
DROP TABLE ledger;
DROP TABLE sessions;
DROP TABLE api_keys;
DROP TABLE mail_tokens;
DROP TABLE accounts;
