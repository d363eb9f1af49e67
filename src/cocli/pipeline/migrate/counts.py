"""How many rows of each layout became what: the figures of a plan, and of what was done."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.pipeline.migrate.row import Foreign, Migrated, Outcome

if TYPE_CHECKING:
    from cocli.formats.rejected import RejectedRow
    from cocli.models.record import Record

_EXAMPLES = 5
_MOST_REASONS = 200
_QUOTED = re.compile(r'"[^"]*"')
_NUMBERS = re.compile(r"(?<![\w.])-?[0-9][0-9.,]*")


@dataclass
class LayoutCount:
    """`rows` is always `records + rejected + foreign`: no row is lost."""

    files: int = 0
    rows: int = 0
    records: int = 0
    rejected: int = 0
    foreign: int = 0
    duplicates: int = 0
    """Records whose key was there already; they are merged, not lost."""
    mended: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    """Why rows were set aside, without the values."""
    campaigns: Counter[str] = field(default_factory=Counter)
    """Whose the foreign rows are."""
    examples: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.rows += 1
        if isinstance(outcome, Migrated):
            self.records += 1
            self.mended.update(outcome.mends)
        elif isinstance(outcome, Foreign):
            self.foreign += 1
            self.campaigns[outcome.campaign[:80]] += 1
        else:
            self._reject(outcome)

    def _reject(self, rejected: RejectedRow) -> None:
        self.rejected += 1
        reason = _NUMBERS.sub("#", _QUOTED.sub('"…"', rejected.reason))
        is_new = reason not in self.reasons
        if is_new and len(self.reasons) >= _MOST_REASONS:
            reason = "other"
        self.reasons[reason] += 1
        if is_new and len(self.examples) < _EXAMPLES:
            self.examples.append(str(rejected)[:300])

    def as_dict(self) -> dict[str, object]:
        return {
            "files": self.files,
            "rows": self.rows,
            "records": self.records,
            "rejected": self.rejected,
            "foreign": self.foreign,
            "duplicates": self.duplicates,
            "mended": dict(self.mended.most_common()),
            "reasons": dict(self.reasons.most_common()),
            "campaigns": dict(self.campaigns.most_common()),
            "examples": list(self.examples),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> LayoutCount:
        """What `as_dict` gave."""
        counters = {name: Counter(content[name]) for name in ("mended", "reasons", "campaigns")}
        return cls(**{**content, **counters, "examples": list(content["examples"])})


class KeysSeen:
    """Tells records whose key occurred before. 8 bytes of a hash per key, so a million keys cost some 60 MB."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def is_again(self, index: str, record: Record) -> bool:
        key = hash((index, *(str(getattr(record, name)) for name in type(record).key)))
        again = key in self._seen
        self._seen.add(key)
        return again
