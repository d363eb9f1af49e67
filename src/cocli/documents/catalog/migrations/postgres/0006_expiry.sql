-- When the content of a state went because it was old. What it had was a tombstone's; it may be saved again.
ALTER TABLE document_states ADD COLUMN expired_at TIMESTAMPTZ;
