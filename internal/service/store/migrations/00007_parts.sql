-- +goose Up

-- The parts of a long clip that a job does by themselves, in two steps. They go when the
-- job has ended.
CREATE TABLE job_parts (
    job_id      TEXT NOT NULL REFERENCES jobs (id),
    step        TEXT NOT NULL CHECK (step IN ('matte', 'render')),
    n           BIGINT NOT NULL, -- from 0, in the clip's order
    task        TEXT NOT NULL, -- JSON
    state       TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done')),
    attempt     BIGINT NOT NULL, -- claims so far; who knows another number may not write the result
    lost        BIGINT NOT NULL, -- claims that failed
    lease_until BIGINT, -- when running
    result      TEXT,   -- JSON, when done
    object_key  TEXT,   -- of the file that it has made, when done
    PRIMARY KEY (job_id, step, n)
);
CREATE INDEX job_parts_open ON job_parts (job_id, step, n) WHERE state <> 'done';

-- +goose Down
DROP TABLE job_parts;
