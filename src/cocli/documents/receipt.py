"""What saving came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cocli.models.document import DocumentReference, PipeDoc

Outcome = Literal["created", "unchanged", "updated", "deleted", "restored"]


@dataclass(frozen=True, slots=True)
class Receipt:
    reference: DocumentReference
    outcome: Outcome
    version: int
    row: PipeDoc

    @classmethod
    def of(cls, row: PipeDoc, outcome: Outcome) -> Receipt:
        return cls(row.reference, outcome, row.version, row)
