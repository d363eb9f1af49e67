"""How two records of one key become one, and how observations of one business find each other.

Pure functions: no store, no files, no clock. docs/merging.md says what they promise.
"""

from cocli.pipeline.merge.assignment import Assignment, assign
from cocli.pipeline.merge.matching import Match, Matcher
from cocli.pipeline.merge.reconciliation import reconcile
from cocli.pipeline.merge.records import (
    merge_changes,
    merge_completions,
    merge_domains,
    merge_emails,
    merge_harvests,
    merge_prospects,
    merge_rolls,
    merge_standings,
    merge_targets,
    merge_witnesses,
)
from cocli.pipeline.merge.transformations import (
    move_prospect,
    place_to_prospect,
    website_to_domain,
    website_to_emails,
    website_to_prospect,
)

__all__ = [
    "Assignment",
    "Match",
    "Matcher",
    "assign",
    "merge_changes",
    "merge_completions",
    "merge_domains",
    "merge_emails",
    "merge_harvests",
    "merge_prospects",
    "merge_rolls",
    "merge_standings",
    "merge_targets",
    "merge_witnesses",
    "move_prospect",
    "place_to_prospect",
    "reconcile",
    "website_to_domain",
    "website_to_emails",
    "website_to_prospect",
]
