-- What this catalogue tells others, and what it learned from them: see docs/documents.md.
-- Rows that were made here and that no object of the store names yet. What was made before, nobody was told of.
CREATE TABLE untold (
    uuid    TEXT NOT NULL,
    cluster TEXT NOT NULL,
    PRIMARY KEY (uuid, cluster)
) WITHOUT ROWID;

INSERT INTO untold (uuid, cluster) SELECT uuid, cluster FROM pipedocs;

-- Whether others made the row and it was learned from them: they tell of it, and they send its events.
ALTER TABLE pipedocs ADD COLUMN learned INTEGER NOT NULL DEFAULT 0;

-- Objects of the store whose rows are here.
CREATE TABLE learned (
    entry TEXT PRIMARY KEY
) WITHOUT ROWID;

-- Single facts about the catalogue itself: its name among the writers, when it was last held against the store.
CREATE TABLE facts (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
