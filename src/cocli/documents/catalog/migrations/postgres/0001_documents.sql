-- Rows of the states of documents: an index over the store, which can be built anew from it.
CREATE TABLE pipedocs (
    uuid          TEXT COLLATE "C" NOT NULL,
    cluster       TEXT COLLATE "C" NOT NULL DEFAULT '',  -- '' at intake
    account       TEXT COLLATE "C" NOT NULL,
    connector     TEXT COLLATE "C" NOT NULL,
    datasource    TEXT COLLATE "C" NOT NULL,
    doc           TEXT COLLATE "C" NOT NULL,
    address       TEXT COLLATE "C" NOT NULL,
    kind          TEXT    NOT NULL,
    digest        TEXT    NOT NULL,
    size          BIGINT NOT NULL CHECK (size >= 0),
    version       BIGINT NOT NULL CHECK (version >= 1),
    content_type  TEXT,
    filename      TEXT,
    source_uri    TEXT,
    http_status   INTEGER,
    etag          TEXT,
    parent_digest TEXT,
    steps         TEXT    NOT NULL DEFAULT '[]',  -- JSON
    saved_at      TIMESTAMPTZ NOT NULL,
    deleted_at    TIMESTAMPTZ,
    purged_at     TIMESTAMPTZ,
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
    number       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id     TEXT    NOT NULL UNIQUE,
    uuid         TEXT COLLATE "C" NOT NULL,
    cluster      TEXT COLLATE "C" NOT NULL DEFAULT '',
    account      TEXT COLLATE "C" NOT NULL,
    connector    TEXT COLLATE "C" NOT NULL,
    datasource   TEXT COLLATE "C" NOT NULL,
    doc          TEXT COLLATE "C" NOT NULL,
    address      TEXT COLLATE "C" NOT NULL,
    digest       TEXT    NOT NULL,
    version      BIGINT NOT NULL,
    operation    TEXT    NOT NULL,
    destination  TEXT    NOT NULL DEFAULT '',
    at           TIMESTAMPTZ NOT NULL,
    published_at TIMESTAMPTZ,
    attempts     INTEGER NOT NULL DEFAULT 0,
    last_error   TEXT
);

CREATE INDEX outbox_waiting ON outbox (attempts, number) WHERE published_at IS NULL;
CREATE INDEX outbox_waiting_by_document ON outbox (uuid, cluster) WHERE published_at IS NULL;

-- Steps that need not be done again: a cache.
CREATE TABLE memo (
    account       TEXT COLLATE "C" NOT NULL,
    doc           TEXT COLLATE "C" NOT NULL,
    node          TEXT COLLATE "C" NOT NULL,
    cluster       TEXT COLLATE "C" NOT NULL,
    input_digest  TEXT NOT NULL,
    code_digest   TEXT NOT NULL,
    output_digest TEXT,
    at            TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account, doc, node, cluster, input_digest, code_digest)
);

-- Single facts about the catalogue itself, such as how far its events were pruned.
CREATE TABLE marks (
    name TEXT PRIMARY KEY,
    at   TIMESTAMPTZ NOT NULL
);
