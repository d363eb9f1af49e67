-- Jobs: many documents taken through a graph again. What they are and how far they came survives whoever runs them.
CREATE TABLE jobs (
    job         TEXT COLLATE "C" PRIMARY KEY,
    account     TEXT COLLATE "C" NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('replay', 'seed')),
    cluster     TEXT COLLATE "C" NOT NULL,
    plan        TEXT    NOT NULL,  -- JSON
    state       TEXT    NOT NULL CHECK (state IN ('planned', 'running', 'paused', 'done', 'failed', 'cancelled')),
    total       BIGINT  NOT NULL,
    position    TEXT,              -- the last document that was done
    done        BIGINT  NOT NULL DEFAULT 0,
    unchanged   BIGINT  NOT NULL DEFAULT 0,
    skipped     BIGINT  NOT NULL DEFAULT 0,
    failed      BIGINT  NOT NULL DEFAULT 0,
    holder      TEXT,              -- who runs it
    held_until  TIMESTAMPTZ,
    error       TEXT,
    planned_at  TIMESTAMPTZ NOT NULL,
    started_at  TIMESTAMPTZ,
    finished_at TIMESTAMPTZ
);

CREATE INDEX jobs_by_account ON jobs (account, planned_at);

CREATE TABLE job_outcomes (
    job     TEXT COLLATE "C" NOT NULL REFERENCES jobs (job) ON DELETE CASCADE,
    doc     TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL,         -- of the state that it began with
    account TEXT COLLATE "C" NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('done', 'unchanged', 'skipped', 'failed')),
    code    TEXT,
    error   TEXT,
    at      TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (job, doc, address)
);

CREATE INDEX job_outcomes_by_document ON job_outcomes (account, doc);
