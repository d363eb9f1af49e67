"""The indexes of a campaign, for people: status, queries, care, migration."""
