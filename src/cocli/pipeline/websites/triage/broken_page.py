"""Is this page an error that comes as if it were the website: not found, a crash, works in progress?

Such a page says hardly anything, leads nowhere and names nobody. A phrase alone decides nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.triage.signals import has_contact, is_thin, own_links

if TYPE_CHECKING:
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.page.page import Page

_CHARS = 700
_FEW_LINKS = 4
_GONE = re.compile(
    rf"(?:{either('broken.error')})[ :]{{1,2}}404|{either('broken.gone')}|"
    rf"(?:{either('broken.gone_what')}) (?:(?:{either('broken.gone_is')}) )?(?:{either('broken.gone_not')})\b"
    rf"[^\n]{{0,20}}(?:{either('broken.gone_found')})",
    re.IGNORECASE | re.MULTILINE,
)
_PASSING = re.compile(either("broken.passing"), re.IGNORECASE)


def broken_evidence(page: Page, facts: PageFacts, site: str) -> tuple[tuple[str, ...], bool]:
    """Why there is no website here, and whether that may pass; no evidence where there may be one."""
    if not page.text.strip() or not is_thin(page, _CHARS) or has_contact(facts) or facts.addresses:
        return (), False
    if own_links(page, site) > _FEW_LINKS:
        return (), False
    for phrases, may_pass in ((_PASSING, True), (_GONE, False)):
        for where, text in (("title", page.title), ("text", page.text[:_CHARS])):
            match = phrases.search(text)
            if match:
                said = f'its {where} says "{" ".join(match[0].split())[:80]}"'
                return (said, f"{len(page.text)} characters of text, no contact, hardly a link"), may_pass
    return (), False
