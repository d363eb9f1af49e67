"""Words around numbers: those that say it is a phone or a fax, and those that say it is something else."""

from __future__ import annotations

import re

from cocli.pipeline.websites.page.languages import either

PHONE = re.compile(either("phone.phone"), re.IGNORECASE)
FAX = re.compile(either("phone.fax"), re.IGNORECASE)
CALL = re.compile(either("phone.call"), re.IGNORECASE)
"""Words for a number that somebody answers."""
BOTH = re.compile(
    rf"tel(?:e(?:fon|phone|foon|fono)\w{{0,2}})?\b[.:]? ?(?:[/&+-]|\b(?:{either('phone.and')})\b) ?(?:tele)?fax",
    re.IGNORECASE,
)
FAX_LETTER = re.compile(r"(?<![\w&])(?:F|f(?=[.:)]))[.:)]? {0,3}\(?\Z")
"""`T 030 23 · F 030 24`"""
FAX_AFTER = re.compile(r" ?[(\[–—-]? ?(?:(?:tele)?fax|f(?=\)))(?![\w.:]) ?[)\]]?(?! ?[\d(+:])", re.IGNORECASE)
OTHER = re.compile(rf"\b(?:{either('phone.other_number')})\b|{either('phone.other_mark')}", re.IGNORECASE)
