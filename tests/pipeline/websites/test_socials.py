"""Social profiles: profiles, not share links."""

from __future__ import annotations

import pytest

from cocli.pipeline.websites import parse_page
from cocli.pipeline.websites.facts.socials import find_socials, read_profile


@pytest.mark.parametrize(
    ("url", "site", "profile"),
    [
        ("https://www.facebook.com/HainWerk/?ref=x", "facebook", "https://www.facebook.com/HainWerk"),
        ("http://facebook.com/pages/Hain-Werk/123456", "facebook", "https://facebook.com/pages/Hain-Werk/123456"),
        ("https://www.facebook.com/profile.php?id=100012345&sk=about", "facebook", "https://www.facebook.com/profile.php?id=100012345"),
        ("https://www.facebook.com/plugins/page.php?href=https%3A%2F%2Fwww.facebook.com%2Fhainwerk&tabs=x", "facebook", "https://www.facebook.com/hainwerk"),
        ("https://www.facebook.com/share/18gqawQ6VX/?mibextid=x", "facebook", "https://www.facebook.com/share/18gqawQ6VX"),
        ("[tiktok.com](https://www.tiktok.com/@hainwerk?_r=1)", "tiktok", "https://www.tiktok.com/@hainwerk"),
        ("https://instagram.com/hain.werk?igsh=1", "instagram", "https://instagram.com/hain.werk"),
        ("https://x.com/hainwerk", "x", "https://x.com/hainwerk"),
        ("https://twitter.com/@hainwerk", "x", "https://twitter.com/hainwerk"),
        ("https://de.linkedin.com/company/hain-werk/about/", "linkedin", "https://de.linkedin.com/company/hain-werk"),
        ("https://www.linkedin.com/in/anna-tann-1234", "linkedin", "https://www.linkedin.com/in/anna-tann-1234"),
        ("//www.youtube.com/@hainwerk", "youtube", "https://www.youtube.com/@hainwerk"),
        ("https://www.youtube.com/channel/UCabc", "youtube", "https://www.youtube.com/channel/UCabc"),
        ("https://www.tiktok.com/@hainwerk", "tiktok", "https://www.tiktok.com/@hainwerk"),
        ("https://www.yelp.com/biz/hain-werk-weimar", "yelp", "https://www.yelp.com/biz/hain-werk-weimar"),
        ("https://www.xing.com/companies/hainwerk", "xing", "https://www.xing.com/companies/hainwerk"),
        ("https://bsky.app/profile/hainwerk.de", "bluesky", "https://bsky.app/profile/hainwerk.de"),
    ],
)  # fmt: skip
def test_profiles(url: str, site: str | None, profile: str | None) -> None:
    found = read_profile(url)
    assert (found and found.site, found and found.url) == (site, profile)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.facebook.com/",
        "https://www.facebook.com/sharer/sharer.php?u=x",
        "https://www.facebook.com/hainwerk/posts/123",
        "https://www.facebook.com/share/p/18gqawQ6VX/",
        "https://www.facebook.com/tr?id=1",
        "https://twitter.com/intent/tweet?text=x",
        "https://twitter.com/hainwerk/status/12345",
        "https://x.com/i/flow/login",
        "https://www.instagram.com/p/Cabc/",
        "https://www.instagram.com/accounts/login/",
        "https://www.linkedin.com/shareArticle?url=x",
        "https://www.linkedin.com/company/",
        "https://www.youtube.com/watch?v=abc",
        "https://youtu.be/abc",
        "https://www.facebook.com/wix",
        "https://notfacebook.com/hainwerk",
        "https://facebook.com.evil.de/hainwerk",
        "javascript:alert(1)",
        "http://[",
        "",
    ],
)
def test_no_profiles(url: str) -> None:
    assert read_profile(url) is None


def test_each_profile_once_with_its_method() -> None:
    page = parse_page(
        "<a href='https://www.facebook.com/HainWerk'>f</a><a href='https://facebook.com/hainwerk/'>f</a>"
        "<script type=application/ld+json>{'x':1}</script>"
        '<script type=application/ld+json>{"sameAs":["https://www.instagram.com/hainwerk/","https://de.wikipedia.org/wiki/Hain"]}'
        "</script>"
    )
    assert [(found.value, found.method) for found in find_socials(page)] == [
        ("https://www.facebook.com/HainWerk", "link"),
        ("https://www.instagram.com/hainwerk", "json-ld"),
    ]


def test_icons_above_a_credit_are_the_companys() -> None:
    icons = "<a href=https://facebook.com/hainwerk><i></i></a><a href=https://instagram.com/hainwerk><i></i></a>"
    page = parse_page(f"<div>{icons}</div><p>Design by <a href=https://facebook.com/pixelkontor>Pixelkontor</a></p>")
    assert [found.value for found in find_socials(page)] == [
        "https://facebook.com/hainwerk",
        "https://instagram.com/hainwerk",
    ]
