"""`cocli enrich` and `cocli enrichment`."""
