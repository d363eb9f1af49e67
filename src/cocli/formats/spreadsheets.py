"""Texts that a spreadsheet takes for something else when it opens a CSV file: `01067` for 1067, `1-2` for a date."""

from __future__ import annotations

import re

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]{0,6}"
_CHANGED = re.compile(
    rf"""
      0\d+(?:[.,]\d+)?                                # its zeros are dropped
    | \d{{12,}}                                       # shown as 1.23E+11
    | \d+(?:\.\d+)?e[+-]?\d+
    | \d{{1,4}}([-/.])\d{{1,2}}(?:\1\d{{1,4}})?       # a date
    | \d{{1,2}}:\d{{2}}(?::\d{{2}})?                  # a time
    | {_MONTH}[-. /]?\d{{1,4}} | \d{{1,2}}[-. /]?{_MONTH}(?:[-. /]\d{{2,4}})?
    | true | false                                    # written in capitals
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


def is_taken_for_number(text: str) -> bool:
    """Whether a spreadsheet would show a number, a date or a truth that does not look like the text."""
    return _CHANGED.fullmatch(text) is not None
