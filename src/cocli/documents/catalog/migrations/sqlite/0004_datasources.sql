-- One row for each object: two datasources may have documents of one id, and each has its own states.
CREATE TABLE pipedocs_by_place (
    uuid          TEXT    NOT NULL,
    cluster       TEXT    NOT NULL DEFAULT '',  -- '' at intake
    account       TEXT    NOT NULL,
    connector     TEXT    NOT NULL,
    datasource    TEXT    NOT NULL,
    doc           TEXT    NOT NULL,
    address       TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    digest        TEXT    NOT NULL,
    size          INTEGER NOT NULL CHECK (size >= 0),
    version       INTEGER NOT NULL CHECK (version >= 1),
    content_type  TEXT,
    filename      TEXT,
    source_uri    TEXT,
    http_status   INTEGER,
    etag          TEXT,
    parent_digest TEXT,
    steps         TEXT    NOT NULL DEFAULT '[]',  -- JSON
    saved_at      TEXT    NOT NULL,
    deleted_at    TEXT,
    purged_at     TEXT,
    learned       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (uuid, cluster, datasource, connector),
    CHECK (kind IN ('intake', 'state')),
    CHECK ((kind = 'intake') = (cluster = '')),
    CHECK (cluster <> 'intake'),
    CHECK (kind <> 'intake' OR address = datasource),
    CHECK (account <> '' AND connector <> '' AND datasource <> '' AND doc <> '' AND address <> ''),
    CHECK (length(digest) = 64)
);

INSERT INTO pipedocs_by_place (
    uuid, cluster, account, connector, datasource, doc, address, kind, digest, size, version, content_type, filename,
    source_uri, http_status, etag, parent_digest, steps, saved_at, deleted_at, purged_at, learned
) SELECT
    uuid, cluster, account, connector, datasource, doc, address, kind, digest, size, version, content_type, filename,
    source_uri, http_status, etag, parent_digest, steps, saved_at, deleted_at, purged_at, learned
FROM pipedocs;

DROP TABLE pipedocs;
ALTER TABLE pipedocs_by_place RENAME TO pipedocs;
CREATE INDEX pipedocs_by_document ON pipedocs (account, doc, cluster, address);
CREATE INDEX pipedocs_by_datasource ON pipedocs (account, datasource, cluster, doc, address);

CREATE TABLE untold_places (
    uuid       TEXT NOT NULL,
    cluster    TEXT NOT NULL,
    connector  TEXT NOT NULL,
    datasource TEXT NOT NULL,
    PRIMARY KEY (uuid, cluster, datasource, connector)
) WITHOUT ROWID;

INSERT INTO untold_places (uuid, cluster, connector, datasource)
SELECT uuid, cluster, connector, datasource FROM pipedocs JOIN untold USING (uuid, cluster);

DROP TABLE untold;
ALTER TABLE untold_places RENAME TO untold;

-- The same content from two datasources is two steps. '' is what was remembered before: of either.
CREATE TABLE memo_by_origin (
    account       TEXT NOT NULL,
    doc           TEXT NOT NULL,
    node          TEXT NOT NULL,
    cluster       TEXT NOT NULL,
    input_digest  TEXT NOT NULL,
    code_digest   TEXT NOT NULL,
    output_digest TEXT,
    at            TEXT NOT NULL,
    origin        TEXT NOT NULL DEFAULT '',  -- a short hash of connector and datasource
    PRIMARY KEY (account, doc, node, cluster, input_digest, code_digest, origin)
) WITHOUT ROWID;

INSERT INTO memo_by_origin (account, doc, node, cluster, input_digest, code_digest, output_digest, at)
SELECT account, doc, node, cluster, input_digest, code_digest, output_digest, at FROM memo;

DROP TABLE memo;
ALTER TABLE memo_by_origin RENAME TO memo;

CREATE TABLE outcomes_by_place (
    job        TEXT NOT NULL REFERENCES jobs (job) ON DELETE CASCADE,
    doc        TEXT NOT NULL,
    address    TEXT NOT NULL,         -- of the state that it began with
    datasource TEXT NOT NULL DEFAULT '',
    connector  TEXT NOT NULL DEFAULT '',
    account    TEXT NOT NULL,
    outcome    TEXT NOT NULL CHECK (outcome IN ('done', 'unchanged', 'skipped', 'failed')),
    code       TEXT,
    error      TEXT,
    at         TEXT NOT NULL,
    PRIMARY KEY (job, doc, address, datasource, connector)
) WITHOUT ROWID;

INSERT INTO outcomes_by_place (job, doc, address, account, outcome, code, error, at)
SELECT job, doc, address, account, outcome, code, error, at FROM job_outcomes;

DROP TABLE job_outcomes;
ALTER TABLE outcomes_by_place RENAME TO job_outcomes;
CREATE INDEX job_outcomes_by_document ON job_outcomes (account, doc);
