"""The page that asks for consent before everything else, answered by its form, in whatever language it is written.

Two forms lead on from it, the first of them refuses; no word of it is read. The answer is a cookie, which the
browser's context keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.async_api import Page

FORMS = 'form[action*="consent."][action*="/save"], form[action*="consent.google"]'
"""The same for the parser (`verdicts`), which sees the page once it is saved."""
_SUBMIT = "button:not([type=button]), input[type=submit]"
_MOST = 2
"""Pages of that kind in a row."""


def asks_for_consent(url: str) -> bool:
    """By where the browser stands: on a host, or in a folder, that is named for consent."""
    parts = urlsplit(url)
    return (parts.hostname or "").startswith("consent.") or parts.path.startswith("/consent.")


async def pass_consent(page: Page, seconds: float) -> bool:
    """Refuse what can be refused. False where the browser still stands before the question."""
    from playwright.async_api import Error

    for _ in range(_MOST):
        if not asks_for_consent(page.url):
            return True
        button = page.locator(FORMS).first.locator(_SUBMIT).first
        try:
            async with page.expect_navigation(wait_until="domcontentloaded", timeout=seconds * 1000):
                await button.click(timeout=seconds * 1000)
        except Error:  # no form, or one that leads nowhere: then the question stays, which is a verdict
            return False
    return not asks_for_consent(page.url)
