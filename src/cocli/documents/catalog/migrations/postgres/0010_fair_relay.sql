-- Who relays takes turns between accounts: of each, those that wait longest.
DROP INDEX outbox_waiting_by_account;
CREATE INDEX outbox_waiting_of_account ON outbox (account, attempts, number) WHERE published_at IS NULL;
