-- What a relay takes, settles and counts. {event} are the columns of an event.
-- An event is taken unless another relay has it, its next try is later, or an earlier version of its document for the
-- same destination has not gone yet: that one failed, is somebody else's just now, or was committed after it.

-- Accounts are found from one to the next by the index, however many events each has.

-- name: waiting_accounts
WITH RECURSIVE next_account (account) AS (
    SELECT min(account) FROM outbox WHERE published_at IS NULL
    UNION ALL
    SELECT (SELECT min(account) FROM outbox WHERE published_at IS NULL AND account > next_account.account)
    FROM next_account WHERE next_account.account IS NOT NULL
) SELECT account FROM next_account WHERE account IS NOT NULL;

-- name: take_events
UPDATE outbox SET taken_until = :until WHERE number IN (
    SELECT one.number FROM outbox AS one
    WHERE one.account = :account AND one.published_at IS NULL AND one.set_aside_at IS NULL
        AND (one.taken_until IS NULL OR one.taken_until <= :now) AND (one.retry_at IS NULL OR one.retry_at <= :now)
        AND NOT EXISTS (
            SELECT 1 FROM outbox AS earlier
            WHERE earlier.uuid = one.uuid AND earlier.cluster = one.cluster AND earlier.published_at IS NULL
                AND earlier.datasource = one.datasource AND earlier.connector = one.connector
                AND earlier.destination = one.destination AND earlier.set_aside_at IS NULL
                AND earlier.version < one.version
                AND (earlier.attempts > 0 OR earlier.taken_until > :now OR earlier.number > one.number)
        )
    ORDER BY one.attempts, one.number LIMIT :limit
) RETURNING {event}, attempts, number;

-- name: take_events_of
UPDATE outbox SET taken_until = :until WHERE number IN (
    SELECT one.number FROM outbox AS one
    WHERE one.uuid = :uuid AND one.cluster = :cluster AND one.destination = :destination
        AND one.datasource = :datasource AND one.connector = :connector
        AND one.published_at IS NULL AND one.set_aside_at IS NULL
        AND (one.taken_until IS NULL OR one.taken_until <= :now)
        AND NOT EXISTS (
            SELECT 1 FROM outbox AS earlier
            WHERE earlier.uuid = one.uuid AND earlier.cluster = one.cluster AND earlier.published_at IS NULL
                AND earlier.datasource = one.datasource AND earlier.connector = one.connector
                AND earlier.destination = one.destination AND earlier.set_aside_at IS NULL
                AND earlier.version < one.version AND earlier.taken_until > :now
        )
) RETURNING {event}, attempts, number;

-- name: give_back_event
UPDATE outbox SET taken_until = NULL WHERE event_id = :event_id AND published_at IS NULL;

-- name: note_failed_event
UPDATE outbox
SET attempts = attempts + 1, last_error = :reason, taken_until = NULL, retry_at = :retry_at, set_aside_at = :set_aside_at
WHERE event_id = :event_id AND published_at IS NULL;

-- name: unsent_events
SELECT set_aside_at, last_error FROM outbox
WHERE uuid = :uuid AND cluster = :cluster AND destination = :destination AND published_at IS NULL
    AND datasource = :datasource AND connector = :connector;

-- name: count_unsent_events
SELECT count(*) FROM outbox WHERE account = :account AND published_at IS NULL;

-- name: unsent_by_destination
SELECT account, destination, sum(CASE WHEN set_aside_at IS NULL THEN 1 ELSE 0 END),
    sum(CASE WHEN set_aside_at IS NULL THEN 0 ELSE 1 END), min(at), max(attempts), max(last_error)
FROM outbox WHERE published_at IS NULL GROUP BY account, destination ORDER BY account, destination;

-- name: retry_events
UPDATE outbox SET attempts = 0, retry_at = NULL, set_aside_at = NULL
WHERE account = :account AND destination = :destination AND published_at IS NULL;

-- name: resend_events
UPDATE outbox SET published_at = NULL, attempts = 0, retry_at = NULL, taken_until = NULL
WHERE account = :account AND destination = :destination AND published_at >= :since;

-- name: drop_set_aside
DELETE FROM outbox
WHERE account = :account AND destination = :destination AND published_at IS NULL AND set_aside_at IS NOT NULL;
