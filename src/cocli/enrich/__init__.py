"""Enrichment: from the pages of a website to the facts on them, each with its method, context and position."""
