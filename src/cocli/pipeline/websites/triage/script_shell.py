"""Is this page a shell that only scripts fill, so that it takes a browser to read it?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.wordlist import words
from cocli.pipeline.websites.triage.signals import has_contact, is_thin

if TYPE_CHECKING:
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.page.page import Page

_SHELL_CHARS = 400
_MOUNTS = words("root app __next __nuxt q-app svelte main-app app-root react-root ember-app application site-root")
_NEEDS = re.compile(
    rf"(?:{either('script.before')})\W{{1,3}}(?:\w+\W{{1,3}}){{0,3}}javascript|"
    rf"javascript\W{{1,3}}(?:\w+\W{{1,3}}){{0,4}}(?:{either('script.after')})|{either('script.phrase')}",
    re.IGNORECASE,
)


def shell_evidence(page: Page, facts: PageFacts) -> tuple[str, ...]:
    """Why there is nothing to read without a browser; empty where there is something."""
    if not is_thin(page, _SHELL_CHARS) or has_contact(facts):
        return ()
    programs = [script for script in page.scripts if script.source and "json" not in script.kind]
    if not programs:
        return ()
    signs = []
    mount = next((e.get("id") for e in page.by_attribute.get("id", ()) if e.get("id").lower() in _MOUNTS), None)
    if mount or any(tag.startswith("app-") for tag in page.by_tag):
        signs.append(f'an empty element "{mount or "app-…"}" waits for a script')
    if match := _NEEDS.search(page.text):
        signs.append(f'it says "{" ".join(match[0].split())[:80]}"')
    if not signs:
        return ()
    return (*signs, f"{len(page.text)} characters of text, {len(programs)} scripts from elsewhere")
