"""What a visit asked for, one after the other, and what came of each.

A reading follows from its answers alone. So where all of them are as they were, the whole reading is, and nobody has to
parse a page or to write a state to know it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from cocli.documents.digest import canonical_json
from cocli.pipeline.websites.fetch.outcome import Fetched, NotModified

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.pipeline.websites.fetch.outcome import Outcome

NOTHING = "-"
"""No answer, or one that says that there is no such page."""
UNKNOWN = "?"
"""As before, by the server's word; what it was is said once the page was found here."""


@dataclass(frozen=True, slots=True)
class VisitTrace:
    """`basis` stands for what the reading depended on besides the answers."""

    basis: str
    asked: Mapping[str, str]
    """Address → what came of it, in the order of the visit."""

    @property
    def is_whole(self) -> bool:
        return bool(self.asked) and UNKNOWN not in self.asked.values()

    def as_data(self) -> dict[str, Any]:
        """For the document of the visit. A list: the order counts, and that of an object does not."""
        return {"basis": self.basis, "asked": [[url, answer] for url, answer in self.asked.items()]}

    @classmethod
    def from_data(cls, data: Any) -> Self | None:
        """None where a visit left none."""
        if not isinstance(data, dict):
            return None
        return cls(data["basis"], dict(data["asked"]))


def basis_of(*parts: object) -> str:
    return hashlib.sha256(canonical_json(list(parts)).encode()).hexdigest()[:16]


def answer_of(outcome: Outcome) -> str:
    """What came of asking, where it is not kept as a page."""
    if isinstance(outcome, Fetched):
        return f"sha256:{hashlib.sha256(outcome.body).hexdigest()}"
    return UNKNOWN if isinstance(outcome, NotModified) else NOTHING
