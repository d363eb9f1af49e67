"""Whom to name with an export: the sources of what was written, with their licences. They travel with the file.

What a format can hold stands in the file itself; beside the others lies a text of the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.registry import attributions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.results.exports.row import ExportRow

BESIDE = ".licences.txt"
"""What the name of the text beside a file ends with."""
_HEADING = "This list was made from the data of others, who are to be named with it:"


class SourceCredits:
    """Known once everything was written: which sources the rows came from is seen as they pass by."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def noting(self, rows: Iterable[ExportRow]) -> Iterator[ExportRow]:
        for row in rows:
            self._seen.update(row.sources)
            yield row

    def __call__(self) -> list[str]:
        return attributions(self._seen)


def text_beside(whom: Sequence[str]) -> bytes:
    """What lies beside a file whose format has no room for it."""
    return "\n".join([_HEADING, "", *(f"- {credit}" for credit in whom), ""]).encode()
