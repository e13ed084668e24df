-- +goose Up

-- Facts about the service as a whole, by their names: which deployment the
-- database and its storage belong to, when they were last swept.
CREATE TABLE deployment (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- The objects that the last backup has: none of them is an orphan.
CREATE TABLE backup_objects (
    key TEXT PRIMARY KEY
);

-- Null: the account may act, and its queue moves.
ALTER TABLE accounts ADD COLUMN suspended_at BIGINT;

-- For slots by how many jobs of an account timed out lately.
CREATE INDEX jobs_timed_out ON jobs (account_id, ended_at) WHERE error = 'timed_out';
-- For the end of rows, and of what refers to them.
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX job_events_job ON job_events (job_id);

-- +goose Down
DROP INDEX job_events_job;
DROP INDEX jobs_ended;
DROP INDEX jobs_timed_out;
ALTER TABLE accounts DROP COLUMN suspended_at;
DROP TABLE backup_objects;
DROP TABLE deployment;
