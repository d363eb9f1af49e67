"""What is made of a campaign: exports and reports."""
