-- {event} are the columns of an event, {event_values} their parameters.

-- name: add_event
INSERT INTO outbox ({event}) VALUES ({event_values}) ON CONFLICT (event_id) DO NOTHING;

-- name: waiting
SELECT {event} FROM outbox WHERE published_at IS NULL ORDER BY attempts, number LIMIT :limit;

-- name: mark_published
UPDATE outbox SET published_at = :at WHERE event_id = :event_id AND published_at IS NULL;

-- name: known_event
SELECT event_id FROM outbox WHERE event_id = :event_id;

-- name: scan_events
SELECT {event}, number, published_at FROM outbox WHERE number > :after ORDER BY number LIMIT :limit;

-- name: remove_event
DELETE FROM outbox WHERE event_id = :event_id;

-- name: prune_events
DELETE FROM outbox WHERE published_at < :before;

-- name: drop_waiting
DELETE FROM outbox
WHERE account = :account AND doc = :doc AND published_at IS NULL AND operation IN ('created', 'updated', 'restored');

-- name: forget_version
DELETE FROM outbox
WHERE uuid = :uuid AND cluster = :cluster AND datasource = :datasource AND connector = :connector
    AND digest = :digest AND (:deletions = 1 OR operation IN ('created', 'updated', 'restored'));

-- name: clear_events
DELETE FROM outbox;

-- name: mark
INSERT INTO marks (name, at) VALUES (:name, :at)
ON CONFLICT (name) DO UPDATE SET at = CASE WHEN excluded.at > marks.at THEN excluded.at ELSE marks.at END;

-- name: read_mark
SELECT at FROM marks WHERE name = :name;
