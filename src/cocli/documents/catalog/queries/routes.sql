-- Editions that subscribed to datasources. {row} are the columns of a document's row.

-- name: routes_of
SELECT account, datasource, edition, generation, behind_doc, seeded, since FROM routes
WHERE account = :account AND datasource = :datasource ORDER BY edition;

-- name: every_route
SELECT account, datasource, edition, generation, behind_doc, seeded, since FROM routes
ORDER BY account, datasource, edition;

-- name: add_route
INSERT INTO routes (account, datasource, edition, behind_doc, since)
VALUES (:account, :datasource, :edition, '', :at) ON CONFLICT (account, datasource, edition) DO NOTHING;

-- name: drop_route
DELETE FROM routes WHERE account = :account AND datasource = :datasource AND edition = :edition;

-- name: recrawl_route
UPDATE routes SET generation = generation + 1, behind_doc = '', seeded = 0
WHERE account = :account AND datasource = :datasource AND edition = :edition;

-- name: advance_route
UPDATE routes SET behind_doc = :behind_doc, seeded = seeded + :count
WHERE account = :account AND datasource = :datasource AND edition = :edition;

-- name: known_version
SELECT version FROM document_states
WHERE uuid = :uuid AND cluster = '' AND connector = :connector AND datasource = :datasource;

-- name: intakes_behind
SELECT {row} FROM document_states
WHERE account = :account AND datasource = :datasource AND cluster = '' AND doc > :behind_doc
ORDER BY doc, connector LIMIT :limit;

-- name: intakes_of_document
SELECT {row} FROM document_states
WHERE account = :account AND datasource = :datasource AND cluster = '' AND doc = :doc ORDER BY connector;
