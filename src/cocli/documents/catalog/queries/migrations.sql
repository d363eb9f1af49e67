-- name: note_migration
INSERT INTO schema_migrations (number, name, sha256) VALUES (:number, :name, :sha256);
