-- Who relays takes events for a while, so that two relays do not send the same ones; what cannot be sent waits for its
-- next try, and is set aside for a person after the last.
ALTER TABLE outbox ADD COLUMN taken_until TIMESTAMPTZ;
ALTER TABLE outbox ADD COLUMN retry_at TIMESTAMPTZ;
ALTER TABLE outbox ADD COLUMN set_aside_at TIMESTAMPTZ;

CREATE INDEX outbox_waiting_by_account ON outbox (account) WHERE published_at IS NULL;
