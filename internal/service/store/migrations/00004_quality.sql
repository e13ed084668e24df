-- +goose Up

-- JSON: how the output looks; null before done, and of jobs of earlier versions.
ALTER TABLE jobs ADD COLUMN quality TEXT;

-- +goose Down
ALTER TABLE jobs DROP COLUMN quality;
