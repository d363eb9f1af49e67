-- The table makes way for a view of its name, which has the columns of the design that this follows.
ALTER TABLE pipedocs RENAME TO document_states;

-- The key of the object without the prefix of the repository. '' where it was not written down yet.
ALTER TABLE document_states ADD COLUMN path TEXT NOT NULL DEFAULT '';
CREATE INDEX states_without_path ON document_states (uuid) WHERE path = '';

-- The row of a state under the names of the design that this follows. What was deleted is not there.
CREATE VIEW pipedocs AS
SELECT
    uuid                 AS node_id,
    doc                  AS doc_id,
    address              AS graph_address_id,
    account              AS account_id,
    datasource           AS datasource_id,
    connector            AS connector_id,
    digest               AS checksum,
    NULLIF(cluster, '')  AS cluster_id,
    COALESCE((SELECT value FROM facts WHERE name = 'prefix'), 'uploads') || '/' || NULLIF(path, '') AS object_key,
    version, etag, size  AS size_bytes, content_type, filename, saved_at AS updated_at
FROM document_states
WHERE deleted_at IS NULL;
