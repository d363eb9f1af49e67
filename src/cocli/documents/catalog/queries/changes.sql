-- What this catalogue tells others, and what it learned from them. {row} are the columns of a row.

-- name: add_untold
INSERT INTO untold (uuid, cluster, datasource, connector) VALUES (:uuid, :cluster, :datasource, :connector)
ON CONFLICT (uuid, cluster, datasource, connector) DO NOTHING;

-- name: untold
SELECT {row} FROM document_states JOIN untold USING (uuid, cluster, datasource, connector)
ORDER BY uuid, cluster, datasource, connector LIMIT :limit;

-- name: untold_places
SELECT uuid, cluster, connector, datasource FROM untold;

-- A row that was replaced since it was told stays untold.
-- name: told
DELETE FROM untold
WHERE uuid = :uuid AND cluster = :cluster AND datasource = :datasource AND connector = :connector AND NOT EXISTS (
    SELECT 1 FROM document_states
    WHERE uuid = :uuid AND cluster = :cluster AND datasource = :datasource AND connector = :connector
        AND (version <> :version OR digest <> :digest)
);

-- name: drop_untold
DELETE FROM untold
WHERE uuid = :uuid AND cluster = :cluster AND datasource = :datasource AND connector = :connector;

-- name: clear_untold
DELETE FROM untold;

-- A row of our own of the same version stays our own.
-- name: learn
INSERT INTO document_states ({row}, path, learned) VALUES ({row_values}, :path, 1)
ON CONFLICT (uuid, cluster, datasource, connector) DO UPDATE SET
    digest = excluded.digest, size = excluded.size, version = excluded.version, content_type = excluded.content_type, filename = excluded.filename,
    source_uri = excluded.source_uri, http_status = excluded.http_status, etag = excluded.etag,
    parent_digest = excluded.parent_digest, steps = excluded.steps, saved_at = excluded.saved_at,
    deleted_at = excluded.deleted_at, purged_at = excluded.purged_at, expired_at = excluded.expired_at, learned = 1
WHERE excluded.version > document_states.version;

-- name: is_learned
SELECT learned FROM document_states
WHERE uuid = :uuid AND cluster = :cluster AND datasource = :datasource AND connector = :connector;

-- name: add_learned
INSERT INTO learned (entry) VALUES (:entry) ON CONFLICT (entry) DO NOTHING;

-- name: learned
SELECT entry FROM learned;

-- name: forget_learned
DELETE FROM learned WHERE entry = :entry;

-- name: clear_learned
DELETE FROM learned;

-- name: places
SELECT uuid, cluster, connector, datasource FROM document_states;

-- name: fact
SELECT value FROM facts WHERE name = :name;

-- name: begin_fact
INSERT INTO facts (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING;

-- name: set_fact
INSERT INTO facts (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value;
