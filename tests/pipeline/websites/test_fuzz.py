"""Every extractor on pages that nobody would write: no exception, and findings that keep their promises."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocli.models.website import FoundEmail, FoundPhone
from cocli.pipeline.websites import combine, parse_page, read_page
from cocli.pipeline.websites.facts.addresses import find_addresses
from cocli.pipeline.websites.facts.contact_ways import find_contact_ways
from cocli.pipeline.websites.facts.description import find_description
from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.facts.emails.cloudflare import unprotected
from cocli.pipeline.websites.facts.emails.find import FORMS, find_emails
from cocli.pipeline.websites.facts.emails.links import addresses_of
from cocli.pipeline.websites.facts.emails.spoken import spoken
from cocli.pipeline.websites.facts.hours import find_hours
from cocli.pipeline.websites.facts.people import find_people
from cocli.pipeline.websites.facts.phones.phones import find_phones, to_e164
from cocli.pipeline.websites.facts.scripting.evaluate import strings_of
from cocli.pipeline.websites.facts.socials import find_socials, read_profile
from cocli.pipeline.websites.facts.technologies import find_technologies
from cocli.pipeline.websites.page.charset import decode
from cocli.pipeline.websites.page.encodings import caesar_mailto, from_base64, shifted, unescaped
from cocli.pipeline.websites.page.page import Page

PIECES = (
    *("info", "@", "hainwerk", ".", "de", ".co.uk", " ", "[at]", " at ", " dot ", "(", ")", "mailto:", "tel:", "+49"),
    *("<p>", "</p>", "<a href='", "'>", "</a>", "<b>", "</b>", "<script>", "</script>", "<div class='vcard h-card'>"),
    *(
        "<span itemprop='email'>",
        "</span>",
        "<style>",
        "</style>",
        "{display:none}",
        ".x",
        "<!--",
        "-->",
        "&#64;",
        "%40",
    ),
    *(
        "\\u0040",
        "\\x40",
        "\\",
        "'",
        '"',
        "`",
        "${",
        "}",
        "+",
        "=",
        ";",
        "/",
        "String.fromCharCode(",
        "atob('",
        "[",
        "]",
    ),
    *("<script type='application/ld+json'>", '{"email":', '"a@b.de"', "}", "Mo-Fr", "8:00-17:00", "99423 Weimar", "]"),
    *(
        "https://www.facebook.com/",
        "data-user='",
        "data-domain='",
        "data-cfemail='",
        "5a33",
        "<iframe srcdoc='",
        "\x00",
    ),
    *("\u200b", "\u202e", "ä", "＠", "\ud800", "http://[", "//", "?", "#", "javascript:", "onclick='", "<form>", "\n"),
    *("030 23125042", "</div>", "&#x40;", ".join(", "Am Anger 12", "<input type=email>", "\t", "<title>", "<svg>"),
)
pages = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.text(max_size=300),
    st.text(string.printable, max_size=300),
)
urls = st.one_of(
    st.just(""),
    st.just("https://www.hainwerk.de/kontakt"),
    st.text(max_size=60),
    st.sampled_from(("http://[", "https://x", "//a")),
)
countries = st.sampled_from((None, "", "DE", "US", "XX", "de", "GB"))


def exhausted(form: Callable[[Page], Iterator[object]]) -> Callable[[Page], object]:
    return lambda page: list(form(page))


EXTRACTORS: dict[str, Callable[[Page], object]] = {
    **{form.__name__: exhausted(form) for form in FORMS},
    "emails": find_emails,
    "phones": lambda page: find_phones(page, "DE"),
    "socials": find_socials,
    "addresses": lambda page: find_addresses(page, "DE"),
    "hours": find_hours,
    "people": find_people,
    "technologies": find_technologies,
    "description": find_description,
    "contact ways": find_contact_ways,
}


@pytest.mark.parametrize("name", EXTRACTORS)
@settings(max_examples=60)
@given(html=pages, url=urls)
def test_no_exception(name: str, html: str, url: str) -> None:
    EXTRACTORS[name](parse_page(html, url))


@settings(max_examples=200)
@given(html=st.one_of(pages, st.binary(max_size=400)), url=urls, country=countries)
def test_findings_fit_the_records(html: str | bytes, url: str, country: str | None) -> None:
    """What is found can be stored: addresses and numbers pass the models, positions lie within the text."""
    facts = read_page(html, url, country)
    assert facts.failures == ()
    length = len(parse_page(html, url).text)
    for email in facts.emails:
        FoundEmail(email=email.value, page="x", method=email.method, label=email.label)
        assert 0 <= email.position <= length
    for phone in facts.phones:
        FoundPhone(raw=phone.raw, e164=phone.value, page="x", method=phone.method)
        assert 0 <= phone.position <= length
    combine([facts, facts])


@given(html=pages)
def test_the_same_page_says_the_same(html: str) -> None:
    assert read_page(html, "https://a.de/", "DE") == read_page(html, "https://a.de/", "DE")


@given(text=st.text(max_size=200))
def test_small_readers_take_any_text(text: str) -> None:
    read_address(text)
    list(addresses_of(text))
    list(addresses_of("mailto:" + text))
    list(spoken(text))
    strings_of(text)
    unprotected(text)
    from_base64(text)
    unescaped(text)
    caesar_mailto("nbjmup" + text)
    to_e164(text, "DE")
    read_profile(text)
    read_profile("https://www.facebook.com/" + text)


@given(body=st.binary(max_size=300), declared=st.one_of(st.none(), st.text(max_size=20)))
def test_any_bytes_are_text(body: bytes, declared: str | None) -> None:
    decode(body, declared)


@given(local=st.text("abcxyz.", min_size=1, max_size=20), offset=st.integers(-30, 30))
def test_what_is_encrypted_is_decrypted(local: str, offset: int) -> None:
    link = f"mailto:{local}@hainwerk.de"
    assert shifted(shifted(link, offset), -offset) == link
    assert caesar_mailto(shifted(link, offset)) == link


@given(
    local=st.from_regex(r"[a-z]{3,10}(\.[a-z]{3,10})?", fullmatch=True),
    before=st.sampled_from(("", "E-Mail: ", "(", "<b>Kontakt</b> ", "„", "Post: ")),
    after=st.sampled_from(("", ".", ",", ")", " oder", "<br>Tel", "! ", "”")),
)
def test_an_address_is_cut_out_exactly(local: str, before: str, after: str) -> None:
    found = find_emails(parse_page(f"<p>{before}{local}@hainwerk.de{after}</p>", "https://hainwerk.de/"))
    assert [one.value for one in found.found] == [f"{local}@hainwerk.de"] or found.rejected
