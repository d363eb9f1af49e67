"""JSON with gaps: the text of a record of which only a few values change from one to the next.

The bytes are those that `json_records.render` would give; what does not change is checked and written once.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from cocli.errors import RecordError
from cocli.formats import json_records

if TYPE_CHECKING:
    from cocli.models.record import Record


class JsonForm:
    """The text of a record, with gaps for the values of some of its fields, named in alphabetical order.

    Whoever fills a gap answers for the value: nothing is checked here but that it can be written.
    """

    def __init__(self, example: Record, *gaps: str) -> None:
        values = json.loads(json_records.render(example))
        unknown = set(gaps) - set(values)
        if unknown:
            raise RecordError(
                model=type(example).__name__, reason=f"there are no fields {sorted(unknown)} to leave open"
            )
        if list(gaps) != sorted(gaps):
            raise RecordError(model=type(example).__name__, reason="gaps are named in alphabetical order")
        self._model = type(example).__name__
        self._fixed = {name: json_records.text(value) for name, value in values.items() if name not in gaps}
        # No text of JSON contains a NUL: it stands for each gap, and is what the text is cut at.
        pieces = _members(self._fixed | dict.fromkeys(gaps, "\0")).split("\0")
        self._pieces = [text for piece in pieces for text in (piece, "")][:-1]

    def fill(self, *texts: str) -> bytes:
        """The bytes of a record. Each gap, in the order of their names, is given as `json_records.text` makes it."""
        pieces = self._pieces.copy()
        pieces[1::2] = texts
        try:
            return "".join(pieces).encode()
        except UnicodeEncodeError as error:
            raise RecordError(model=self._model, reason=json_records.LONE_SURROGATE) from error

    def pattern(self, **gaps: str) -> re.Pattern[bytes]:
        """What such a text looks like, each gap given as an expression with one group: its value, whole.

        A text that fits is a record that was written here, if what is found in each gap is one JSON value.
        """
        fixed = {name: re.escape(text) for name, text in self._fixed.items()}
        return re.compile(_members(fixed | gaps).encode(), re.DOTALL)


def _members(texts: dict[str, str]) -> str:
    """A JSON object of these members, in the order in which records are written."""
    members = ",".join(f'"{name}":{texts[name]}' for name in sorted(texts))
    return f"{{{members}}}\n"
