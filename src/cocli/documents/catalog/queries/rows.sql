-- {row} are the columns of a row, {row_values} their parameters, {lock} holds a row until the transaction ends.

-- name: find
SELECT {row} FROM pipedocs WHERE (uuid = :uuid AND cluster = :cluster) OR (uuid = :intake AND cluster = '');

-- name: deleted
SELECT deleted_at FROM pipedocs WHERE uuid = :intake AND cluster = '' {lock};

-- name: put
INSERT INTO pipedocs ({row}) VALUES ({row_values})
ON CONFLICT (uuid, cluster) DO UPDATE SET
    connector = excluded.connector, datasource = excluded.datasource, digest = excluded.digest, size = excluded.size,
    version = excluded.version, content_type = excluded.content_type, filename = excluded.filename,
    source_uri = excluded.source_uri, http_status = excluded.http_status, etag = excluded.etag,
    parent_digest = excluded.parent_digest, steps = excluded.steps, saved_at = excluded.saved_at,
    deleted_at = excluded.deleted_at, purged_at = excluded.purged_at, learned = 0
WHERE excluded.version >= pipedocs.version;

-- name: remove
DELETE FROM pipedocs WHERE uuid = :uuid AND cluster = :cluster;

-- name: states_every
SELECT {row} FROM pipedocs WHERE account = :account AND doc = :doc ORDER BY cluster, address;

-- name: states_in_clusters
SELECT {row} FROM pipedocs WHERE account = :account AND doc = :doc AND cluster > '' ORDER BY cluster, address;

-- name: states_in_cluster
SELECT {row} FROM pipedocs WHERE account = :account AND doc = :doc AND cluster = :cluster ORDER BY address;

-- name: page
SELECT {row} FROM pipedocs
WHERE account = :account AND (doc, cluster, address) > (:after_doc, :after_cluster, :after_address)
    AND (deleted_at IS NULL OR :deleted = 1) AND (:states = 0 OR cluster > '')
ORDER BY doc, cluster, address LIMIT :limit;

-- name: page_of_cluster
SELECT {row} FROM pipedocs
WHERE account = :account AND cluster = :cluster
    AND (doc, cluster, address) > (:after_doc, :after_cluster, :after_address)
    AND (deleted_at IS NULL OR :deleted = 1)
ORDER BY doc, cluster, address LIMIT :limit;

-- name: page_of_datasource
SELECT {row} FROM pipedocs
WHERE account = :account AND datasource = :datasource
    AND (doc, cluster, address) > (:after_doc, :after_cluster, :after_address)
    AND (deleted_at IS NULL OR :deleted = 1) AND (:states = 0 OR cluster > '')
ORDER BY doc, cluster, address LIMIT :limit;

-- name: page_of_datasource_and_cluster
SELECT {row} FROM pipedocs
WHERE account = :account AND datasource = :datasource AND cluster = :cluster
    AND (doc, address) > (:after_doc, :after_address)
    AND (deleted_at IS NULL OR :deleted = 1)
ORDER BY doc, address LIMIT :limit;

-- name: scan
SELECT {row} FROM pipedocs
WHERE (account, doc, cluster, address) > (:account, :doc, :cluster, :address)
ORDER BY account, doc, cluster, address LIMIT :limit;

-- name: clear_rows
DELETE FROM pipedocs;
