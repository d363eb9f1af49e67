-- {row} are the columns of a row, {row_values} their parameters, {lock} holds a row until the transaction ends.

-- name: find
SELECT {row} FROM document_states
WHERE datasource = :datasource AND connector = :connector
    AND ((uuid = :uuid AND cluster = :cluster) OR (uuid = :intake AND cluster = ''));

-- name: named
SELECT {row} FROM document_states WHERE uuid = :uuid AND cluster = :cluster ORDER BY datasource, connector;

-- name: deleted
SELECT CASE WHEN expired_at IS NULL THEN deleted_at END FROM document_states
WHERE uuid = :intake AND cluster = '' AND connector = :connector {lock};

-- name: put
INSERT INTO document_states ({row}, path) VALUES ({row_values}, :path)
ON CONFLICT (uuid, cluster, datasource, connector) DO UPDATE SET
    digest = excluded.digest, size = excluded.size, version = excluded.version, content_type = excluded.content_type, filename = excluded.filename,
    source_uri = excluded.source_uri, http_status = excluded.http_status, etag = excluded.etag,
    parent_digest = excluded.parent_digest, steps = excluded.steps, saved_at = excluded.saved_at,
    deleted_at = excluded.deleted_at, purged_at = excluded.purged_at, expired_at = excluded.expired_at, learned = 0
WHERE excluded.version >= document_states.version;

-- name: remove
DELETE FROM document_states
WHERE uuid = :uuid AND cluster = :cluster AND datasource = :datasource AND connector = :connector;

-- name: states_every
SELECT {row} FROM document_states WHERE account = :account AND doc = :doc
ORDER BY cluster, address, datasource, connector;

-- name: states_in_clusters
SELECT {row} FROM document_states WHERE account = :account AND doc = :doc AND cluster > ''
ORDER BY cluster, address, datasource, connector;

-- name: states_in_cluster
SELECT {row} FROM document_states WHERE account = :account AND doc = :doc AND cluster = :cluster
ORDER BY address, datasource, connector;

-- name: page
SELECT {row} FROM document_states
WHERE account = :account AND (doc, cluster, address, datasource, connector)
        > (:after_doc, :after_cluster, :after_address, :after_datasource, :after_connector)
    AND (deleted_at IS NULL OR :deleted = 1) AND (:states = 0 OR cluster > '')
ORDER BY doc, cluster, address, datasource, connector LIMIT :limit;

-- name: page_of_cluster
SELECT {row} FROM document_states
WHERE account = :account AND cluster = :cluster
    AND (doc, cluster, address, datasource, connector)
        > (:after_doc, :after_cluster, :after_address, :after_datasource, :after_connector)
    AND (deleted_at IS NULL OR :deleted = 1)
ORDER BY doc, cluster, address, datasource, connector LIMIT :limit;

-- name: page_of_datasource
SELECT {row} FROM document_states
WHERE account = :account AND datasource = :datasource
    AND (doc, cluster, address, datasource, connector)
        > (:after_doc, :after_cluster, :after_address, :after_datasource, :after_connector)
    AND (deleted_at IS NULL OR :deleted = 1) AND (:states = 0 OR cluster > '')
ORDER BY doc, cluster, address, datasource, connector LIMIT :limit;

-- name: page_of_datasource_and_cluster
SELECT {row} FROM document_states
WHERE account = :account AND datasource = :datasource AND cluster = :cluster
    AND (doc, address, connector) > (:after_doc, :after_address, :after_connector)
    AND (deleted_at IS NULL OR :deleted = 1)
ORDER BY doc, address, connector LIMIT :limit;

-- name: scan
SELECT {row} FROM document_states
WHERE (account, doc, cluster, address, datasource, connector)
    > (:account, :doc, :cluster, :address, :datasource, :connector)
ORDER BY account, doc, cluster, address, datasource, connector LIMIT :limit;

-- name: clear_rows
DELETE FROM document_states;

-- name: without_path
SELECT {row} FROM document_states WHERE path = '' LIMIT :limit;

-- name: write_path
UPDATE document_states SET path = :path
WHERE uuid = :uuid AND cluster = :cluster AND datasource = :datasource AND connector = :connector;
