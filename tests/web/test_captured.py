"""A hostile captured page in a real browser: no request leaves it, and it touches nothing of ours."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from cocli.app.web.captured_page import render_captured, spots_of
from cocli.app.web.data_file import CAPTURED_POLICY
from tests.app.web.test_captured_page import HOSTILE, VALUES

OURS, EVIL = "http://dashboard.test", "evil.example"
PAGE = f"{HOSTILE.replace('https:', 'http:')}<script>parent.document.title = 'taken over'</script>"


def open_framed(browser: Any, captured: bytes, *, frame: str, headers: dict[str, str]) -> tuple[set[str], str]:
    """The hosts' paths that were asked for, and the title of the page around the frame."""
    shell = f"<title>Dashboard</title><iframe {frame} src='{OURS}/captured'></iframe>"
    asked: set[str] = set()
    context = browser.new_context()

    def answer(route: Any) -> None:
        address = urlsplit(route.request.url)
        if address.hostname == EVIL:
            asked.add(address.path)
            route.fulfill(status=204)
        elif address.path == "/captured":
            route.fulfill(body=captured, content_type="text/html; charset=utf-8", headers=headers)
        else:
            route.fulfill(body=shell, content_type="text/html")

    context.route("**/*", answer)
    page = context.new_page()
    page.goto(f"{OURS}/", wait_until="networkidle")
    title = str(page.title())
    context.close()
    return asked, title


def test_nothing_leaves_a_hostile_page_and_the_control_shows_that_it_would(browser: Any) -> None:
    policy = {"Content-Security-Policy": CAPTURED_POLICY}
    shown = render_captured(PAGE.encode(), spots_of(VALUES))
    assert open_framed(browser, shown, frame='sandbox=""', headers=policy) == (set(), "Dashboard")
    # Each wall holds alone: the page as it came behind the policy, and the page as it is shown without one.
    assert open_framed(browser, PAGE.encode(), frame='sandbox=""', headers=policy) == (set(), "Dashboard")
    assert open_framed(browser, shown, frame='sandbox=""', headers={}) == (set(), "Dashboard")
    asked, title = open_framed(browser, PAGE.encode(), frame="", headers={})
    assert len(asked) > 5
    assert title == "taken over"
