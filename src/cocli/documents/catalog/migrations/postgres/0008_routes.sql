-- Editions that subscribed to a datasource: what comes in is sent to them, in the transaction of its row.
CREATE TABLE routes (
    account     TEXT COLLATE "C" NOT NULL,
    datasource  TEXT COLLATE "C" NOT NULL,
    edition     TEXT COLLATE "C" NOT NULL,
    generation  INTEGER NOT NULL DEFAULT 0,  -- grows with every recrawl: what was sent before is sent again
    behind_doc  TEXT COLLATE "C",                      -- up to which document it caught up; NULL once it did with all of them
    seeded      BIGINT NOT NULL DEFAULT 0,
    since       TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account, datasource, edition)
);
