"""Looking after documents: check, repair, delete, purge."""
