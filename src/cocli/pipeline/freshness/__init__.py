"""What became different since the last look: rolls of searches, standings of businesses, changes, and what is due.

Pure functions over records. Reading captures and writing records is done further up. docs/fresh.md says the rules.
"""
