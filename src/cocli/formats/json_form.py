"""JSON with gaps: the text of a record of which only a few values change from one to the next.

The bytes are those that `json_records.render` would give; what does not change is checked and written once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cocli.errors import RecordError
from cocli.formats import json_records

if TYPE_CHECKING:
    from cocli.models.record import Record


class JsonForm:
    """The text of a record, with gaps for the values of some of its fields.

    Whoever fills a gap answers for the value: nothing is checked here but that it can be written.
    """

    def __init__(self, example: Record, *gaps: str) -> None:
        values = json.loads(json_records.render(example))
        unknown = set(gaps) - set(values)
        if unknown:
            raise RecordError(
                model=type(example).__name__, reason=f"there are no fields {sorted(unknown)} to leave open"
            )
        texts = {name: json_records.text(value).replace("%", "%%") for name, value in values.items()}
        texts |= {name: f"%({name})s" for name in gaps}
        members = ",".join(f'"{name}":{texts[name]}' for name in sorted(texts))
        self._model = type(example).__name__
        self._template = f"{{{members}}}\n"

    def fill(self, **texts: str) -> bytes:
        """The bytes of a record. Each gap is given as JSON text, as `json_records.text` makes it."""
        try:
            return (self._template % texts).encode()
        except UnicodeEncodeError as error:
            raise RecordError(model=self._model, reason=json_records.LONE_SURROGATE) from error
