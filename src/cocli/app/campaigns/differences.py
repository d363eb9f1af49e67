"""Two readings of websites, side by side: what was recovered, lost and changed, with examples."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from cocli.app.campaigns.sites import SiteSummary

Difference = Literal["recovered", "lost", "changed", "same", "still_none"]
"""Of the addresses of one site; a site that had none and has none is `still_none`."""
WORDS: tuple[Difference, ...] = get_args(Difference)
EXAMPLES = 5


def difference(before: SiteSummary, after: SiteSummary) -> Difference:
    if not before.emails:
        if after.emails:
            return "recovered"
        return "still_none"
    if not after.emails:
        return "lost"
    same = (before.primary_email, before.emails) == (after.primary_email, after.emails)
    if same:
        return "same"
    return "changed"


@dataclass(frozen=True, slots=True)
class DifferenceExample:
    domain: str
    difference: Difference
    before: SiteSummary
    after: SiteSummary


@dataclass(slots=True)
class Differences:
    """Summed up. `phones` counts the sites whose phones differ, by the same words."""

    sites: int = 0
    emails: Counter[str] = field(default_factory=Counter)
    phones: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    """`dead → alive`, for sites whose status is another one now."""
    examples: list[DifferenceExample] = field(default_factory=list)
    most: int = EXAMPLES

    def add(self, domain: str, before: SiteSummary, after: SiteSummary) -> Difference:
        found = difference(before, after)
        self.sites += 1
        self.emails[found] += 1
        self.phones[_phones(before, after)] += 1
        if before.status != after.status:
            self.statuses[f"{before.status or 'unread'} → {after.status or 'unread'}"] += 1
        known = sum(1 for example in self.examples if example.difference == found)
        if found in ("recovered", "lost", "changed") and known < self.most:
            self.examples.append(DifferenceExample(domain, found, before, after))
        return found

    def as_dict(self) -> dict[str, Any]:
        return {
            "sites": self.sites,
            "emails": {name: self.emails[name] for name in WORDS},
            "phones": {name: self.phones[name] for name in WORDS},
            "statuses": [{"change": change, "count": count} for change, count in self.statuses.most_common()],
            "examples": [
                asdict(example)
                | {"before": example.before.model_dump(mode="json"), "after": example.after.model_dump(mode="json")}
                for example in self.examples
            ],
        }


def _phones(before: SiteSummary, after: SiteSummary) -> Difference:
    if not before.phones:
        if after.phones:
            return "recovered"
        return "still_none"
    if not after.phones:
        return "lost"
    if before.phones == after.phones:
        return "same"
    return "changed"
