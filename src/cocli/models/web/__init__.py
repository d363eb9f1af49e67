"""The files that the pages of the dashboard read, one model each. docs/web-data.md shows them."""
