"""Looking into a store by hand."""
