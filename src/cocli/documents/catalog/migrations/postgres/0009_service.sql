-- What the service needs: in which order states changed, for those who watch; uploads that are under way.
-- A counter that a transaction holds until it ends: numbers become visible in their order, and none is skipped.
CREATE TABLE change_count (
    name   TEXT PRIMARY KEY,
    number BIGINT NOT NULL
);

INSERT INTO change_count (name, number) VALUES ('changes', 0);

-- The latest change of each state. What was there before has none: whoever wants all lists it first.
CREATE TABLE changed (
    uuid       TEXT COLLATE "C" NOT NULL,
    cluster    TEXT COLLATE "C" NOT NULL,
    datasource TEXT COLLATE "C" NOT NULL,
    connector  TEXT COLLATE "C" NOT NULL,
    account    TEXT COLLATE "C" NOT NULL,
    number     BIGINT NOT NULL,
    PRIMARY KEY (uuid, cluster, datasource, connector)
);

CREATE INDEX changed_by_account ON changed (account, number);

CREATE TABLE uploads (
    upload     TEXT COLLATE "C" PRIMARY KEY,
    account    TEXT COLLATE "C" NOT NULL,
    request    BYTEA NOT NULL,
    received   BIGINT NOT NULL DEFAULT 0,
    expires_at TIMESTAMPTZ NOT NULL
);

-- The parts that are in the store. All but the last are full.
CREATE TABLE upload_parts (
    upload TEXT COLLATE "C" NOT NULL,
    number INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    size   INTEGER NOT NULL,
    PRIMARY KEY (upload, number)
);
