"""The short way to a link's full address comes to what joining comes to."""

from __future__ import annotations

from urllib.parse import urljoin

from hypothesis import given
from hypothesis import strategies as st

from cocli.pipeline.websites.page.page import Page
from cocli.pipeline.websites.page.walk import parse_page

BASES = ("https://a.com/", "http://a.com:81/x/y?z=1", "https://a.com", "", "/x/y", "https://a.com/b/../c", "x")


@given(st.sampled_from(BASES), st.text(alphabet="/.a?=&%#;:-~_ ä", max_size=12))
def test_it_is_what_joining_comes_to(base: str, tail: str) -> None:
    href = f"/{tail}"
    try:
        expected: str | None = urljoin(base, href.strip())
    except ValueError:  # leads nowhere
        expected = None
    assert Page(url=base).absolute(href) == expected


def test_links_follow_the_base_that_a_page_names() -> None:
    page = parse_page('<base href="/sub/"><a href="/x">X</a>', "https://a.com/")
    assert (page.absolute("/x"), page.absolute("y")) == ("https://a.com/x", "https://a.com/sub/y")
    elsewhere = parse_page('<base href="https://b.com/sub/">', "https://a.com/")
    assert (elsewhere.absolute("/x"), elsewhere.absolute("y")) == ("https://b.com/x", "https://b.com/sub/y")
