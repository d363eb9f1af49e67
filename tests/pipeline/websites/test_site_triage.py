"""What kind of website it is: every status with its evidence, and ordinary pages that only look like one of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.models.campaign import ExcludeSection
from cocli.pipeline.exclusions import Exclusions
from cocli.pipeline.websites.facts.facts import facts_of_page
from cocli.pipeline.websites.fetch.outcome import Failure, Fetched, FetchFailed, Reason, Refused
from cocli.pipeline.websites.page.url import site_of_url
from cocli.pipeline.websites.page.walk import parse_page
from cocli.pipeline.websites.triage.triage import (
    Expected,
    Triage,
    triage_address,
    triage_move,
    triage_outcome,
    triage_page,
)

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
URL = "https://firm.com/"
WORDS = "<p>" + "We repair boilers and pipes in the whole county, by day and by night. " * 40 + "</p>"
MENU = "".join(
    f'<a href="/{name}">{name}</a> ' for name in ("services", "prices", "contact", "about", "gallery", "jobs")
)


def judged(html: str, url: str = URL, status: int = 200) -> Triage | None:
    page = parse_page(html, url)
    return triage_page(page, facts_of_page(page), site_of_url(url), status)


# --- the address alone


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("https://gmail.com/", "refused"),
        ("https://www.web.de/", "refused"),
        ("http://www.free.fr/", "refused"),
        ("http://plomberie.durand.free.fr/", None),
        ("https://competitor.com/x", "refused"),
        ("https://shop.competitor.com/", "refused"),
        ("https://www.facebook.com/firm", "social-only"),
        ("https://instagram.com/firm/", "social-only"),
        ("https://linktr.ee/firm", "social-only"),
        ("https://www.yelp.com/biz/firm", "directory"),
        ("https://firm.booksy.com/x", "directory"),
        ("https://www.opentable.com/r/firm", "directory"),
        ("https://firm.com/", None),
        ("https://firm.wordpress.com/", None),
        ("https://firm.godaddysites.com/", None),
        ("https://sites.google.com/view/firm", None),
        ("https://notcompetitor.com/", None),
    ],
)
def test_what_the_address_says(url: str, status: str | None) -> None:
    exclusions = Exclusions.of(ExcludeSection(domains=("competitor.com",)))
    found = triage_address(url, exclusions)
    assert (found.status if found else None) == status
    if found:
        assert all(found.evidence)


# --- no page


def failed(kind: Failure, status: int | None = None, html: str = "") -> FetchFailed:
    body = Fetched(URL, URL, status or 0, {}, html.encode(), "text/html", None, NOON) if html else None
    return FetchFailed(URL, kind, "why", URL, status, body)


@pytest.mark.parametrize(
    ("outcome", "status", "retryable"),
    [
        (failed(Failure.NO_SUCH_HOST), "dead", False),
        (failed(Failure.DNS), "dead", True),
        (failed(Failure.CONNECT), "dead", True),
        (failed(Failure.TIMEOUT), "dead", True),
        (failed(Failure.HTTP_STATUS, 404), "dead", False),
        (failed(Failure.HTTP_STATUS, 410), "dead", False),
        (failed(Failure.HTTP_STATUS, 500), "dead", True),
        (failed(Failure.HTTP_STATUS, 403), "blocked", False),
        (failed(Failure.HTTP_STATUS, 429), "blocked", True),
        (failed(Failure.HTTP_STATUS, 503, "<title>Just a moment...</title>"), "blocked", True),
        (Refused(URL, Reason.ROBOTS), "refused", False),
        (Refused(URL, Reason.ROBOTS_UNAVAILABLE), "dead", True),
        (Refused(URL, Reason.ADDRESS), "refused", False),
    ],
)
def test_what_is_known_without_a_page(outcome: FetchFailed | Refused, status: str, retryable: bool) -> None:
    found = triage_outcome(outcome)
    assert (found.status, found.retryable) == (status, retryable)
    assert URL in found.evidence[0]


# --- a page

SHELL = (
    '<body><div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript><script src="/a.js">'
)
LISTED = "".join(f"<p>Firm {n}, phone +1 620 555 2{n:03}</p>" for n in range(100, 130))


@pytest.mark.parametrize(
    ("html", "status"),
    [
        (
            "<title>firm.com</title><h1>firm.com</h1><p>This domain is for sale! <a href='https://sedo.com/x'>Buy</a>",
            "for-sale",
        ),
        (
            "<title>firm.com is for sale</title><h1>The domain firm.com is for sale</h1><a href='/offer'>Offer</a>",
            "for-sale",
        ),
        ("<title>firm.com</title><p>Die Domain firm.com steht zum Verkauf", "for-sale"),
        ("<title>firm.com</title><p>Ce nom de domaine est à vendre", "for-sale"),
        ("<title>firm.com</title><p>Este dominio está en venta", "for-sale"),
        ("<title>firm.com</title><p>Questo dominio è in vendita", "for-sale"),
        ("<title>firm.com</title><p>Deze domeinnaam is te koop", "for-sale"),
        ("<title>firm.com</title><p>Este domínio está à venda", "for-sale"),
        ("<title>firm.com</title><p>Ta domena jest na sprzedaż", "for-sale"),
        (
            "<title>firm.com</title><script src='https://www.sedoparking.com/x.js'></script><p>Related searches",
            "parked",
        ),
        ("<title>firm.com</title><p>This domain is parked free, courtesy of a registrar", "parked"),
        ("<title>Apache2 Ubuntu Default Page: It works</title><p>It works!", "parked"),
        ("<title>Welcome to nginx!</title><p>If you see this page, the web server is installed.", "parked"),
        ("<title>Account Suspended</title><p>Contact your hosting provider.", "parked"),
        ("<title>Firm</title><h1>Coming soon</h1>", "parked"),
        ("<title>Firma</title><p>Hier entsteht eine neue Internetpräsenz", "parked"),
        ("<title>Index of /</title><h1>Index of /</h1><a href='a/'>a/</a>", "parked"),
        ("<title>Just a moment...</title><script src='/cdn-cgi/challenge-platform/h/b.js'></script>", "blocked"),
        ("<title>Pardon Our Interruption</title><p>Are you a human?", "blocked"),
        ("<title>firm.com - This website is for sale!</title><p>This website is for sale!", "for-sale"),
        (
            f"<title>Firm.com is for sale</title><p>This domain is for sale<a href='tel:+13038930552'>Call</a>{MENU}",
            "for-sale",
        ),
        ("<title>firm.com</title><p>Домен firm.com продаётся", "for-sale"),
        ("<title>firm.com</title><p>此域名正在出售", "for-sale"),
        ("<title>firm.com</title><script src='https://x.com/parking-lander/main.js'></script>", "parked"),
        ("<title>firm.com</title><p>This domain was recently registered at a registrar. Check back later!", "parked"),
        ("<title>firm.com</title><p>このドメインは取得されています", "parked"),
        ("<title>Website Expired</title><p>This account has expired. If you are the owner, log in.", "parked"),
        ("<title>Default Web Site Page</title><p>Please contact your host: webmaster@firm.com", "parked"),
        ("<title>Firm</title><p>This website has been suspended. Write to billing@hostco.com", "parked"),
        ("<title>Your access to this site has been limited</title><p>Generated by Wordfence", "blocked"),
        ("<script src='/_Incapsula_Resource?SWJIYLWA=5'></script>", "blocked"),
        ("<title>Page not found</title><h1>404</h1><p>The page you requested could not be found.", "dead"),
        ("<title>Seite nicht gefunden</title><p>Fehler 404", "dead"),
        ("<h1>Error establishing a database connection</h1>", "dead"),
        ("<title>firm.com | 521: Web server is down</title><p>Error code 521", "dead"),
        ("<title>Wartungsmodus</title><h1>Wir sind bald zurück</h1>", "dead"),
        (SHELL, "script-shell"),
        (f"<title>Springfield business directory</title>{LISTED}", "directory"),
    ],
)
def test_pages_that_are_no_website(html: str, status: str) -> None:
    found = judged(html)
    assert found is not None
    assert found.status == status
    assert found.evidence
    assert all(found.evidence)


@pytest.mark.parametrize(
    "html",
    [
        f"<title>Homes for sale in Springfield</title>{MENU}{WORDS}",
        f"<title>Firm: domain names, for sale and for rent</title>{MENU}<p>Buy this domain, or another.</p>{WORDS}",
        f"<title>Domain brokers</title>{MENU}<p>This domain is for sale</p><a href='mailto:sales@firm.com'>Mail</a>",
        f"<title>Firm</title>{MENU}<h1>New shop coming soon</h1><p>Call <a href='tel:+16205552345'>us</a></p>",
        "<title>Firm</title><h1>Under construction</h1><p>Write to <a href='mailto:info@firm.com'>us</a>",
        f"<title>Construction Ltd</title>{MENU}<p>Bridges under construction since 1950</p>{WORDS}",
        f"<title>Firm</title><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>{MENU}{WORDS}",
        f"<title>Locks: access denied to burglars</title>{MENU}<p>Access control and alarms.",
        (
            f"<title>Firm</title>{MENU}<form><div class='g-recaptcha'></div></form>"
            "<script src='https://www.google.com/recaptcha/api.js'></script><p>Send us a message."
        ),
        f'<title>Firm</title><div id="root">{MENU}{WORDS}</div><script src="/a.js"></script>',
        f"<title>Firm</title><noscript>Please enable JavaScript</noscript>{MENU}{WORDS}<script src='/a.js'></script>",
        f"<title>Firm: phones for offices</title>{MENU}{LISTED}",
        f"<title>Firm in the yellow pages</title>{MENU}{WORDS}",
        f"<title>Firm: industrial maintenance</title>{MENU}<p>We are specialists for maintenance and repair.",
        "<title>404 Tattoo</title><p>404 Main Street. Tattoos by day.",
        "<title>Firm</title><h1>404</h1><p>Page not found? Call <a href='tel:+16205552345'>us</a>",
        f"<title>Firm.com: homes for sale</title>{MENU}<p>Homes.",
        "<title>Firm</title><p>Boilers.",
        "",
    ],
)
def test_ordinary_pages_are_not_taken_for_one(html: str) -> None:
    assert judged(html) is None


def test_an_error_that_may_pass_is_asked_for_again() -> None:
    broken, gone = judged("<p>503 Service Unavailable"), judged("<title>404 - Not Found</title><p>Nothing here.")
    assert broken is not None
    assert broken.retryable
    assert gone is not None
    assert not gone.retryable


def test_real_pages_are_websites(captures: Path) -> None:
    for line in (captures / "sites" / "truth.jsonl").read_text().splitlines():
        entry = json.loads(line)
        html = (captures / "sites" / entry["file"]).read_bytes()
        page = parse_page(html, "https://a-website.com/")
        assert triage_page(page, facts_of_page(page), "a-website.com") is None, entry["file"]


# --- a move


@pytest.mark.parametrize(
    ("html", "url", "expected"),
    [
        ("<title>Something else</title>", "https://firm.de/", Expected()),
        ("<title>Something else</title>", "https://firm-plumbing.com/", Expected()),
        ("<title>Firm Plumbing</title>", "https://new-name.com/", Expected()),
        ("<p>Formerly firm.com", "https://new-name.com/", Expected()),
        ("<p>Call <a href='tel:+16205552345'>us</a>", "https://new-name.com/", Expected(phones=("+16205552345",))),
        ("<p>Grünau Haustechnik GmbH", "https://new-name.com/", Expected(names=("Grünau Haustechnik",))),
    ],
)
def test_a_company_that_moved(html: str, url: str, expected: Expected) -> None:
    page = parse_page(html, url)
    assert triage_move("firm.com", page, facts_of_page(page), expected) is None


def test_another_company() -> None:
    page = parse_page("<title>Casino Royal</title><a href='tel:+16205559999'>Call</a>", "https://casino-royal.com/")
    expected = Expected(names=("Firm Plumbing",), phones=("+16205552345",))
    found = triage_move("firm.com", page, facts_of_page(page), expected)
    assert found is not None
    assert found.status == "redirected"
    assert "casino-royal.com" in found.evidence[0]
    assert "Casino Royal" in found.evidence[1]


@given(st.text(max_size=400), st.integers(100, 599))
def test_no_page_is_an_exception(html: str, status: int) -> None:
    judged(f"<title>{html[:50]}</title>{html}", status=status)
