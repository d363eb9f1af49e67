"""Is this page a directory of many companies, on a host that no list names?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.structured import facts_of

if TYPE_CHECKING:
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.page.page import Page

MANY_PHONES = 12
MANY_BUSINESSES = 8
_WORDS = re.compile(either("listing.phrase"), re.IGNORECASE)


def listing_evidence(page: Page, facts: PageFacts) -> tuple[str, ...]:
    """Why this is a directory; empty where it is not. It has to say so and to list many."""
    match = _WORDS.search(
        f"{page.title}\n{page.meta.get('description', '')[:500]}\n{page.meta.get('og:site_name', '')}"
    )
    if not match:
        return ()
    signs = []
    names = {fact.value for fact in facts_of(page) if fact.name == "name" and "business" in fact.kind}
    if len(names) >= MANY_BUSINESSES:
        signs.append(f"{len(names)} businesses are marked up on it")
    if len({phone.value for phone in facts.phones}) >= MANY_PHONES:
        signs.append(f"{len(facts.phones)} phone numbers stand on it")
    if signs:
        return (f'it calls itself "{match[0]}"', *signs)
    return ()
