-- +goose Up

-- Where the ends of an account's jobs are sent, and what signs that.
CREATE TABLE webhook_endpoints (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    url        TEXT NOT NULL, -- empty: it signs what submissions ask for by webhookUrl
    secret     TEXT NOT NULL, -- whsec_…
    created_at BIGINT NOT NULL
);
CREATE INDEX webhook_endpoints_account ON webhook_endpoints (account_id, id);

-- A message to one address about the end of one job.
CREATE TABLE webhook_deliveries (
    id          TEXT PRIMARY KEY, -- sortable by time; the webhook-id
    account_id  TEXT NOT NULL REFERENCES accounts (id),
    job_id      TEXT NOT NULL,
    endpoint_id TEXT, -- null: the submission's webhookUrl
    url         TEXT NOT NULL,
    event       TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts    BIGINT NOT NULL, -- who knows another number may not write the outcome
    next_at     BIGINT NOT NULL, -- when waiting: not sent before; while it is sent, until nobody else may
    status      BIGINT, -- of the last answer, null if there was none
    error       TEXT,   -- of the last attempt, null if it succeeded
    created_at  BIGINT NOT NULL,
    ended_at    BIGINT
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_account ON webhook_deliveries (account_id, id);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);

-- Null: the submission asked for none.
ALTER TABLE jobs ADD COLUMN webhook_url TEXT;

-- +goose Down
ALTER TABLE jobs DROP COLUMN webhook_url;
DROP TABLE webhook_deliveries;
DROP TABLE webhook_endpoints;
