"""Looking after an index: audit, verification, repair, garbage."""
