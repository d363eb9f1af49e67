"""One field of an older file: what happened to it on the way, undone where it is certain what happened.

- A compaction wrote a field with quotes as CSV does (quotes around it, each one doubled), and the next one read it as
  plain text: one quote became three, then seven, then fifteen. Doubling is undone as long as the field has the form
  that the writer gives, which needs a reason for the quotes: a quote or a line break inside.
- U+001E leaked into the last column, one more on each run.
- A line break was written as `<br>`.
"""

from __future__ import annotations

import re

_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_QUOTES = re.compile(r'"+')


def mend(field: str) -> str:
    """A field as text. What is not of a known damage stays as it is."""
    if '"' in field or "\x1e" in field:
        field = _without_damage(field)
    if "\r" in field:
        field = field.replace("\r\n", "\n").replace("\r", "\n")
    if "<" in field:
        return _BREAK.sub("\n", field)
    return field


def _without_damage(field: str) -> str:
    while True:
        shorter = _without_quotes(field.rstrip("\x1e"))
        if shorter == field:
            return "" if field == '""' else field  # how the compaction wrote the empty text
        field = shorter


def _without_quotes(field: str) -> str:
    if len(field) < 2 or field[0] != '"' or field[-1] != '"':
        return field
    inner = field[1:-1]
    runs = [len(run) for run in _QUOTES.findall(inner)]
    has_reason = bool(runs) or "\n" in inner or "\r" in inner
    if not has_reason or any(run % 2 for run in runs):
        return field
    return inner.replace('""', '"')
