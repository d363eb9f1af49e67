-- What watchers read, and uploads that are under way. {row} are the columns of a row.

-- Taken before any row of a transaction, by everybody in the same order: no two wait for each other.
-- name: count_changes
UPDATE change_count SET number = number + :count WHERE name = 'changes' RETURNING number;

-- name: latest_change
SELECT number FROM change_count WHERE name = 'changes';

-- name: note_change
INSERT INTO changed (uuid, cluster, datasource, connector, account, number)
VALUES (:uuid, :cluster, :datasource, :connector, :account, :number)
ON CONFLICT (uuid, cluster, datasource, connector) DO UPDATE SET number = excluded.number, account = excluded.account;

-- name: changes_after
SELECT {row}, number FROM document_states JOIN changed USING (uuid, cluster, datasource, connector, account)
WHERE account = :account AND number > :after ORDER BY number LIMIT :limit;

-- name: begin_upload
INSERT INTO uploads (upload, account, request, expires_at) VALUES (:upload, :account, :request, :expires_at);

-- name: read_upload
SELECT request, received, expires_at FROM uploads
WHERE upload = :upload AND account = :account AND expires_at > :now;

-- name: upload_parts
SELECT sha256, size FROM upload_parts WHERE upload = :upload ORDER BY number;

-- name: last_upload_part
SELECT number, sha256, size FROM upload_parts WHERE upload = :upload ORDER BY number DESC LIMIT 1;

-- name: grow_upload
UPDATE uploads SET received = :received WHERE upload = :upload AND account = :account AND received = :before;

-- name: add_upload_part
INSERT INTO upload_parts (upload, number, sha256, size) VALUES (:upload, :number, :sha256, :size)
ON CONFLICT (upload, number) DO UPDATE SET sha256 = excluded.sha256, size = excluded.size;

-- name: count_uploads
SELECT count(*) FROM uploads WHERE account = :account AND expires_at > :now;

-- name: end_upload
DELETE FROM uploads WHERE upload = :upload AND account = :account;

-- name: end_upload_parts
DELETE FROM upload_parts WHERE upload = :upload;

-- name: expired_uploads
SELECT upload, account FROM uploads WHERE expires_at <= :now LIMIT 1000;
