"""What somebody wants to be saved: the document, who is to be told, who says so, and on which condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.errors import PreconditionFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.documents.document import Document
    from cocli.documents.header import DocumentState
    from cocli.models.document import PipeDoc

_ETAG_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Precondition:
    """What has to be there, or not: `match` is the etag of the state, `*` any state; `absent`, that there is none."""

    match: str | None = None
    absent: bool = False

    def check(self, doc: str, there: DocumentState | None) -> None:
        """Refuse if something else is there. A tombstone counts as nothing."""
        found = None
        if there is not None and there.header.deleted_at is None:
            found = etag_of(there.header.version, there.header.digest)
        if self.absent and found is not None:
            raise PreconditionFailed(doc=doc, there=found, wanted="nothing")
        if self.match is None or (self.match == "*" and found is not None) or self.match == found:
            return
        raise PreconditionFailed(doc=doc, there=found or "nothing", wanted=self.match)


UNCONDITIONAL = Precondition()


@dataclass(frozen=True, slots=True)
class SaveOrder:
    """`by` is who saves it: kept with the version, and no part of its content."""

    document: Document
    publish: Sequence[str] = ()
    by: str = ""
    condition: Precondition = UNCONDITIONAL

    @property
    def is_conditional(self) -> bool:
        return self.condition != UNCONDITIONAL


def etag_of(version: int, digest: str) -> str:
    """Names one version of a state: content can come back (A, B, A), a version cannot."""
    return f"{version}-{digest[:_ETAG_DIGITS]}"


def row_etag(row: PipeDoc) -> str:
    return etag_of(row.version, row.digest)
