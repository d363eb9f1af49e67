"""The queues of a campaign, for people."""
