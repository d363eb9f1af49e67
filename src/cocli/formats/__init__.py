"""Text ⇄ record, nothing else: one module per format (`usv`, `csv_records`, `json_records`, `markdown`, …)."""
