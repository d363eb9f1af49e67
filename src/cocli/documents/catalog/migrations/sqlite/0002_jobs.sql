-- Jobs: many documents taken through a graph again. What they are and how far they came survives whoever runs them.
CREATE TABLE jobs (
    job         TEXT    PRIMARY KEY,
    account     TEXT    NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('replay', 'seed')),
    cluster     TEXT    NOT NULL,
    plan        TEXT    NOT NULL,  -- JSON
    state       TEXT    NOT NULL CHECK (state IN ('planned', 'running', 'paused', 'done', 'failed', 'cancelled')),
    total       INTEGER NOT NULL,
    position    TEXT,              -- the last document that was done
    done        INTEGER NOT NULL DEFAULT 0,
    unchanged   INTEGER NOT NULL DEFAULT 0,
    skipped     INTEGER NOT NULL DEFAULT 0,
    failed      INTEGER NOT NULL DEFAULT 0,
    holder      TEXT,              -- who runs it
    held_until  TEXT,
    error       TEXT,
    planned_at  TEXT    NOT NULL,
    started_at  TEXT,
    finished_at TEXT
);

CREATE INDEX jobs_by_account ON jobs (account, planned_at);

CREATE TABLE job_outcomes (
    job     TEXT NOT NULL REFERENCES jobs (job) ON DELETE CASCADE,
    doc     TEXT NOT NULL,
    address TEXT NOT NULL,         -- of the state that it began with
    account TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('done', 'unchanged', 'skipped', 'failed')),
    code    TEXT,
    error   TEXT,
    at      TEXT NOT NULL,
    PRIMARY KEY (job, doc, address)
) WITHOUT ROWID;

CREATE INDEX job_outcomes_by_document ON job_outcomes (account, doc);
