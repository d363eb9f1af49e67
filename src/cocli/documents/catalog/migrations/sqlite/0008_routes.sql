-- Editions that subscribed to a datasource: what comes in is sent to them, in the transaction of its row.
CREATE TABLE routes (
    account     TEXT NOT NULL,
    datasource  TEXT NOT NULL,
    edition     TEXT NOT NULL,
    generation  INTEGER NOT NULL DEFAULT 0,  -- grows with every recrawl: what was sent before is sent again
    behind_doc  TEXT,                      -- up to which document it caught up; NULL once it did with all of them
    seeded      INTEGER NOT NULL DEFAULT 0,
    since       TEXT NOT NULL,
    PRIMARY KEY (account, datasource, edition)
);
