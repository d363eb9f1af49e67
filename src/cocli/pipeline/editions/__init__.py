"""What the states of an edition come to: the records of a campaign, made without a request and without an index."""
