-- Rows of the states of documents: an index over the store, which can be built anew from it.
CREATE TABLE pipedocs (
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
    PRIMARY KEY (uuid, cluster),
    UNIQUE (account, doc, cluster, address),
    CHECK (kind IN ('intake', 'state')),
    CHECK ((kind = 'intake') = (cluster = '')),
    CHECK (cluster <> 'intake'),
    CHECK (kind <> 'intake' OR address = datasource),
    CHECK (account <> '' AND connector <> '' AND datasource <> '' AND doc <> '' AND address <> ''),
    CHECK (length(digest) = 64)
);

CREATE INDEX pipedocs_by_datasource ON pipedocs (account, datasource, cluster, doc, address);

-- Events, written in the transaction of their row. A published one stays, so that fsck can tell that it was told.
CREATE TABLE outbox (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id     TEXT    NOT NULL UNIQUE,
    uuid         TEXT    NOT NULL,
    cluster      TEXT    NOT NULL DEFAULT '',
    account      TEXT    NOT NULL,
    connector    TEXT    NOT NULL,
    datasource   TEXT    NOT NULL,
    doc          TEXT    NOT NULL,
    address      TEXT    NOT NULL,
    digest       TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    operation    TEXT    NOT NULL,
    destination  TEXT    NOT NULL DEFAULT '',
    at           TEXT    NOT NULL,
    published_at TEXT,
    attempts     INTEGER NOT NULL DEFAULT 0,
    last_error   TEXT
);

CREATE INDEX outbox_waiting ON outbox (attempts, number) WHERE published_at IS NULL;
CREATE INDEX outbox_waiting_by_document ON outbox (uuid, cluster) WHERE published_at IS NULL;

-- Steps that need not be done again: a cache.
CREATE TABLE memo (
    account       TEXT NOT NULL,
    doc           TEXT NOT NULL,
    node          TEXT NOT NULL,
    cluster       TEXT NOT NULL,
    input_digest  TEXT NOT NULL,
    code_digest   TEXT NOT NULL,
    output_digest TEXT,
    at            TEXT NOT NULL,
    PRIMARY KEY (account, doc, node, cluster, input_digest, code_digest)
) WITHOUT ROWID;

-- Single facts about the catalogue itself, such as how far its events were pruned.
CREATE TABLE marks (
    name TEXT PRIMARY KEY,
    at   TEXT NOT NULL
) WITHOUT ROWID;
