"""The veil of records that only name a business by its hash: what changed of it, how it stood.

They have neither its domain nor its place. Whoever is left alone by one of those is looked up among the businesses.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cocli.pipeline.suppression.veil import Veil

_OF_A_BUSINESS = ("domain", "place", "name", "company")


class BusinessVeil:
    """`businesses` gives the records of all businesses, as they lie there: they are read when first needed."""

    def __init__(self, veil: Veil, businesses: Callable[[], Iterable[Any]]) -> None:
        self._veil = veil
        self._businesses = businesses

    @cached_property
    def hidden(self) -> frozenset[str]:
        """The hashes of businesses that are left alone as a whole, and of those that were merged into them."""
        if not any(entry.kind in _OF_A_BUSINESS for entry in self._veil.listed.entries):
            return frozenset()
        found, merged = set[str](), dict[str, str]()
        for business in self._businesses():
            if self._veil.is_theirs(business):
                found.add(business.company_hash)
            if business.merged_into is not None:
                merged[business.company_hash] = business.merged_into
        while more := {part for part, whole in merged.items() if whole in found} - found:
            found |= more
        return frozenset(found)

    @property
    def digest(self) -> str:
        told = "\n".join((self._veil.digest, *sorted(self.hidden)))
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def record(self, record: Any) -> Any | None:
        if record.company_hash in self.hidden:
            return None
        return self._veil.record(record)
