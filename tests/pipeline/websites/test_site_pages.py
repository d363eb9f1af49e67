"""Which pages of a site are worth a request: addresses in one spelling, links of the same site, the order, the stop."""

from __future__ import annotations

import gzip
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cocli.errors import UsageError
from cocli.pipeline.websites import read_page
from cocli.pipeline.websites.page.forwarding import forward_of
from cocli.pipeline.websites.page.url import canonical_url, given_url, other_spellings, page_key, site_of_url
from cocli.pipeline.websites.page.walk import parse_page
from cocli.pipeline.websites.site.links import is_trap, links_of, links_to, site_link
from cocli.pipeline.websites.site.page_choice import AT_MOST, PageChoice, has_enough
from cocli.pipeline.websites.site.sitemap import MAX_URLS, read_sitemap

SITE = "firm.com"


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("HTTPS://WWW.Firm.com:443", "https://www.firm.com/"),
        ("http://firm.com:80/a//b/./c#top", "http://firm.com/a/b/./c"),
        ("https://firm.com/contact;jsessionid=0A1B?PHPSESSID=x&page=2&utm_source=y", "https://firm.com/contact?page=2"),
        ("https://firm.com/über uns", "https://firm.com/%C3%BCber%20uns"),
        ("https://bücher.de/", "https://xn--bcher-kva.de/"),
        ("https://firm.com./?fbclid=1", "https://firm.com/"),
        ("https://firm.com/a|b", "https://firm.com/a%7Cb"),
    ],
)
def test_a_page_has_one_spelling(written: str, means: str) -> None:
    assert canonical_url(written) == means


@pytest.mark.parametrize(
    "written",
    [
        "mailto:a@b.de",
        "javascript:void(0)",
        "file:///etc/passwd",
        "https://user:secret@firm.com/",
        "http://[x",
        "http://firm.com:99999999/",
        "//",
        "",
        "https://firm.com/" + "a" * 3000,
    ],
)
def test_what_is_no_page_has_none(written: str) -> None:
    assert canonical_url(written) is None


@given(st.text(max_size=60), st.text(max_size=30))
@example("%", "=&%zz")
def test_the_spelling_is_stable(path: str, query: str) -> None:
    once = canonical_url(f"https://firm.com/{path}?{query}")
    if once is not None:
        assert canonical_url(once) == once
        assert once.isascii()
        assert "|" not in once
        assert isinstance(page_key(once), str)


def test_spellings_of_one_page_have_one_key() -> None:
    same = [
        "http://firm.com/Contact/",
        "https://www.firm.com/contact",
        "https://firm.com/contact/index.html",
        "https://firm.com/contact/?",
    ]
    assert len({page_key(canonical_url(one) or "") for one in same}) == 1
    assert page_key("https://firm.com/?b=2&a=1") == page_key("https://firm.com/?a=1&b=2")


def test_a_site_is_a_registrable_domain_and_a_shared_host_is_not() -> None:
    assert site_of_url("https://shop.firm.co.uk/x") == site_of_url("http://www.firm.co.uk/") == "firm.co.uk"
    assert site_of_url("https://one.godaddysites.com/") != site_of_url("https://two.godaddysites.com/")
    assert site_of_url("http://127.0.0.1:8080/x") == "127.0.0.1:8080"


@pytest.mark.parametrize(
    "text", ["", "  ", "no address", "http://", "localhost", "ftp://firm.com", "a@b@c", "https://a b.com"]
)
def test_bad_addresses_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as error:
        given_url(text)
    assert "example.com" in str(error.value.hint)


def test_a_bare_domain_is_an_address() -> None:
    assert given_url(" firm.com ") == "https://firm.com/"
    assert given_url("firm.com/kontakt") == "https://firm.com/kontakt"


def test_a_dead_address_has_other_spellings() -> None:
    assert other_spellings("https://firm.com/") == ["http://firm.com/", "https://www.firm.com/", "http://www.firm.com/"]
    assert other_spellings("http://www.firm.com/")[0] == "https://www.firm.com/"
    assert other_spellings("https://shop.firm.com/") == ["http://shop.firm.com/"]
    assert other_spellings("http://firm.com:8080/") == []


CONTACT_WORDS = {
    "en": "Contact us",
    "de": "Kontakt",
    "fr": "Contactez-nous",
    "es": "Contacto",
    "it": "Contatti",
    "nl": "Contact opnemen",
    "pt": "Contato",
    "pl": "Kontakt",
    "el": "Επικοινωνία",
}
IMPRINT_WORDS = {
    "en": "Legal notice",
    "de": "Impressum",
    "fr": "Mentions légales",
    "es": "Aviso legal",
    "it": "Note legali",
    "nl": "Colofon",
    "pt": "Nota legal",
    "pl": "Informacje prawne",
    "el": "Όροι χρήσης",
}
ABOUT_WORDS = {
    "en": "About us",
    "de": "Über uns",
    "fr": "Qui sommes-nous",
    "es": "Quiénes somos",
    "it": "Chi siamo",
    "nl": "Over ons",
    "pt": "Quem somos",
    "pl": "O nas",
    "el": "Σχετικά με εμάς",
}
TEAM_WORDS = {
    "en": "Our staff",
    "de": "Mitarbeiter",
    "fr": "Notre équipe",
    "es": "Nuestro equipo",
    "it": "Il nostro team",
    "nl": "Medewerkers",
    "pt": "Nossa equipe",
    "pl": "Zespół",
    "el": "Η ομάδα μας",
}


@pytest.mark.parametrize("language", list(CONTACT_WORDS))
@pytest.mark.parametrize(
    ("kind", "words"),
    [("contact", CONTACT_WORDS), ("imprint", IMPRINT_WORDS), ("about", ABOUT_WORDS), ("team", TEAM_WORDS)],
)
def test_pages_are_known_by_their_words(kind: str, words: dict[str, str], language: str) -> None:
    text = words[language]
    by_text = site_link("https://firm.com/page-17", SITE, text)
    assert by_text is not None
    assert by_text.kind == kind
    slug = text.lower().replace(" ", "-").replace("é", "e")
    by_path = site_link(f"https://firm.com/{slug}", SITE)
    assert by_path is not None
    assert by_path.kind == kind


@pytest.mark.parametrize("path", ["steam-cleaning", "screws", "products", "gallery", "services/boilers"])
def test_pages_of_no_use_are_left_alone(path: str) -> None:
    assert site_link(f"https://firm.com/{path}", SITE) is None


def test_only_links_of_the_site_each_once() -> None:
    page = parse_page(
        """<a href="/contact">Contact</a> <a href="https://www.firm.com/contact/">Kontakt</a>
        <a href="http://firm.com/contact?PHPSESSID=9#form">Contact</a> <a href="https://other.com/contact">Contact</a>
        <a href="mailto:a@firm.com">Contact</a> <a href="tel:1">Contact</a> <a href="contact.pdf">Contact</a>
        <a href="//jobs.firm.com/about-us">About</a> <a href="http://[">Contact</a> <a href="#contact">Contact</a>""",
        "https://firm.com/",
    )
    found = links_of(page, SITE, "https://firm.com/")
    assert [link.url for link in found] == ["https://firm.com/contact", "https://jobs.firm.com/about-us"]


@pytest.mark.parametrize(
    "address",
    [
        "https://firm.com/contact/2026/11/16",
        "https://firm.com/contact?month=11&year=2026",
        "https://firm.com/contact/a/contact/a/contact/a",
        "https://firm.com/a/b/c/d/e/f/g/contact",
        "https://firm.com/contact?a=1&b=2&c=3&d=4&e=5",
        "https://firm.com/kontakt/login",
        "https://firm.com/contact.jpg",
        "https://firm.com/contact/print/",
    ],
)
def test_traps_are_not_entered(address: str) -> None:
    assert is_trap(address)
    assert site_link(address, SITE) is None


def test_a_million_links_take_bounded_time_and_leave_few() -> None:
    html = "".join(f'<a href="/contact/{number}?sid={number}">Contact {number}</a>' for number in range(1_000_000))
    started = time.process_time()
    page = parse_page(html, "https://firm.com/")
    choice = PageChoice()
    choice.offer(links_of(page, SITE, "https://firm.com/"))
    read = []
    while link := choice.next():
        read.append(link.url)
    assert len(read) == AT_MOST["contact"]
    assert time.process_time() - started < 5


def test_pages_are_read_by_their_worth() -> None:
    urls = [
        "https://firm.com/privacy",
        "https://firm.com/team",
        "https://firm.com/blog/our-contact-with-nature",
        "https://firm.com/about-us",
        "https://firm.com/impressum",
        "https://firm.com/en/contact/branches",
        "https://firm.com/contact",
    ]
    choice = PageChoice()
    choice.offer(links_to(urls, SITE))
    order = []
    while link := choice.next():
        order.append(link.url.removeprefix("https://firm.com/"))
    assert order == [
        "contact",
        "en/contact/branches",
        "blog/our-contact-with-nature",
        "impressum",
        "about-us",
        "team",
        "privacy",
    ]
    choice.offer(links_to(urls, SITE))
    assert choice.next() is None


@given(st.lists(st.sampled_from([f"https://firm.com/{name}/{n}" for name in ("contact", "team") for n in range(9)])))
def test_no_page_is_chosen_twice(urls: list[str]) -> None:
    choice = PageChoice()
    chosen = []
    for url in urls:
        choice.offer(links_to([url], SITE))
        link = choice.next()
        if link is not None:
            chosen.append(link.key)
    assert len(chosen) == len(set(chosen)) <= AT_MOST["contact"] + AT_MOST["team"]


def test_enough_is_an_own_address_and_a_phone_with_a_page_for_contact() -> None:
    both = '<a href="mailto:info@firm.com">Write</a> <a href="tel:+16205552345">Call</a>'
    home = read_page(both, "https://firm.com/", "US")
    contact = read_page(both, "https://firm.com/contact", "US")
    without_phone = read_page('<a href="mailto:info@firm.com">Write</a>', "https://firm.com/contact", "US")
    agency = read_page(
        '<a href="tel:+16205552345">Call</a> Website by <a href="mailto:x@pixels.com">Pixels</a>',
        "https://firm.com/contact",
        "US",
    )
    assert has_enough([contact])
    assert has_enough([home, without_phone])
    assert not has_enough([home])
    assert not has_enough([without_phone])
    assert not has_enough([agency])


# --- sitemaps


def test_sitemaps_of_all_kinds() -> None:
    xml = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
      <url><loc> https://firm.com/contact </loc><lastmod>2026</lastmod></url><url><loc/></url>
      <url><image:loc xmlns:image="x">https://firm.com/no.jpg</image:loc><loc>https://firm.com/team</loc></url></urlset>"""
    pages = ("https://firm.com/contact", "https://firm.com/team")
    assert read_sitemap(xml).pages == pages
    assert read_sitemap(gzip.compress(xml)).pages == pages
    assert read_sitemap(b"https://firm.com/contact\nnonsense\nhttps://firm.com/team\n").pages == pages
    index = b"<sitemapindex><sitemap><loc>https://firm.com/pages.xml</loc></sitemap></sitemapindex>"
    assert read_sitemap(index).sitemaps == ("https://firm.com/pages.xml",)
    assert read_sitemap(xml[:-30]).pages[:1] == pages[:1]


def test_hostile_sitemaps_are_bounded() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>'
    assert read_sitemap(bomb).pages == ()
    many = b"<urlset>" + b"<url><loc>https://firm.com/contact</loc></url>" * (MAX_URLS + 5000) + b"</urlset>"
    assert len(read_sitemap(many).pages) == MAX_URLS
    assert read_sitemap(gzip.compress(b"0" * 50_000_000)).pages == ()
    assert read_sitemap(b"\x1f\x8bnot gzip").pages == ()


@given(st.binary(max_size=300))
def test_no_sitemap_is_an_exception(data: bytes) -> None:
    read_sitemap(data)
    read_sitemap(b"<urlset>" + data)


# --- pages that send their reader on


@pytest.mark.parametrize(
    ("html", "target"),
    [
        ('<meta http-equiv="refresh" content="0; URL=/de/">', "https://firm.com/de/"),
        ("<meta http-equiv='Refresh' content=\"3;url='https://new.com'\">", "https://new.com/"),
        ('<script>window.location.href = "/start"</script>', "https://firm.com/start"),
        ('<script>top.location.replace("https://new.com/x")</script>', "https://new.com/x"),
        (
            '<frameset><frame name="nav" src="n.htm"><frame name="main" src="m.htm"></frameset>',
            "https://firm.com/m.htm",
        ),
        ('<iframe src="https://hosted.com/firm"></iframe>', "https://hosted.com/firm"),
        ('<meta http-equiv="refresh" content="600">', None),
        ('<meta http-equiv="refresh" content="900; url=/later">', None),
        ('<meta http-equiv="refresh" content="0; url=https://www.firm.com/">', None),
        ('<script>if (x) location.href="/popup"</script><a href="/contact">Contact</a>', None),
        ("<p>" + "Words. " * 100 + '</p><iframe src="https://maps.com/x"></iframe>', None),
        ('<meta http-equiv="refresh" content="0; url=javascript:alert(1)">', None),
    ],
)
def test_where_a_page_sends_its_reader(html: str, target: str | None) -> None:
    assert forward_of(parse_page(html, "https://firm.com/")) == target
