"""The enrichment service: websites read for other machines."""
