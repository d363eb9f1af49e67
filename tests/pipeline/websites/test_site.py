"""Reading a site that lies in memory: home first, by worth, within its budgets, and never an exception."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.errors import DocumentDeleted, RecordError
from cocli.models.website import Website
from cocli.pipeline.websites.facts.facts import read_page
from cocli.pipeline.websites.facts.stored_facts import facts_from_json, facts_to_json
from cocli.pipeline.websites.fetch.capture import page_document
from cocli.pipeline.websites.fetch.outcome import (
    Failure,
    Fetched,
    FetchFailed,
    NotModified,
    Outcome,
    Reason,
    Refused,
    Validators,
)
from cocli.pipeline.websites.fetch.pace import visit_clock
from cocli.pipeline.websites.page.document import for_country, parse_document, read_document
from cocli.pipeline.websites.site.record import pages_of, state_of, website_of
from cocli.pipeline.websites.site.shelf import Kept, NoShelf
from cocli.pipeline.websites.site.site import SiteReading, SiteSettings, read_site
from cocli.pipeline.websites.triage.triage import Expected

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOME = (
    '<title>Firm Plumbing</title><a href="/contact">Contact</a> <a href="/about">About us</a> <a href="/team">Team</a>'
)
CONTACT = '<h1>Contact</h1><a href="mailto:info@firm.com">Write</a> <a href="tel:+16205552345">Call</a>'
WORDS = "<p>We repair boilers and pipes.</p>"


def page(url: str, html: str, *, final_url: str | None = None, status: int = 200, mime: str = "text/html") -> Fetched:
    return Fetched(url, final_url or url, status, {"content-type": mime}, html.encode(), mime, None, NOON)


@dataclass
class RecordedSite:
    """Fits `site.site.Fetch`. What it does not know is 404; a host that it does not know does not exist."""

    pages: dict[str, str | Outcome]
    asked: list[str] = field(default_factory=list)
    shown: list[Validators | None] = field(default_factory=list)

    async def __call__(self, url: str, *, validators: Validators | None = None) -> Outcome:
        self.asked.append(url)
        self.shown.append(validators)
        known = self.pages.get(url)
        if isinstance(known, str):
            return page(url, known)
        if known is not None:
            return known
        host = url.split("/")[2]
        if any(one.split("/")[2] == host for one in self.pages):
            return FetchFailed(url, Failure.HTTP_STATUS, "", url, 404)
        return FetchFailed(url, Failure.NO_SUCH_HOST, f"there is no host {host}", url)


def read(site: RecordedSite, url: str = "https://firm.com/", **settings: object) -> SiteReading:
    given = {"shelf": NoShelf(), "country": "US", **settings}
    return asyncio.run(read_site(url, fetch=site, **given))  # type: ignore[arg-type]


def website(reading: SiteReading) -> Website:
    return website_of(state_of(reading, "firm.com"), pages_of(reading), at=NOON)


def test_home_then_contact_then_it_stops() -> None:
    site = RecordedSite({"https://firm.com/": HOME, "https://firm.com/contact": CONTACT})
    reading = read(site)
    assert site.asked == ["https://firm.com/", "https://firm.com/contact"]
    assert (reading.status, reading.stop) == ("alive", "enough")
    record = website(reading)
    assert record.primary_email == "info@firm.com"
    assert [(one.email, one.page, one.method, one.relation) for one in record.emails] == [
        ("info@firm.com", "https://firm.com/contact", "mailto", "own")
    ]
    assert [(one.e164, one.kind) for one in record.phones] == [("+16205552345", "phone")]
    assert record.contact_pages == ("https://firm.com/contact",)
    assert record.title == "Firm Plumbing"


def test_whoever_waited_for_too_long_is_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a visit's time ran out, and what it had found was taken for all that there is."""
    monkeypatch.setattr(visit_clock, "LONGEST_WAIT", 0.05)
    site = RecordedSite({"https://firm.com/": HOME, "https://firm.com/contact": CONTACT})
    now = [0.0]

    async def late(url: str, *, validators: Validators | None = None) -> Outcome:
        with visit_clock.waiting_for_others():
            await asyncio.sleep(0.3)
        now[0] += 99
        return await site(url, validators=validators)

    reading = asyncio.run(
        read_site("https://firm.com/", fetch=late, shelf=NoShelf(), country="US", clock=lambda: now[0])
    )
    assert (len(reading.pages), reading.stop, reading.trace) == (1, "busy", None)


def test_without_what_it_came_for_it_reads_on() -> None:
    pages: dict[str, str | Outcome] = {
        f"https://firm.com/{name}": WORDS + name for name in ("contact", "about", "team")
    }
    site = RecordedSite({"https://firm.com/": HOME, **pages})
    reading = read(site)
    assert [url.rpartition("/")[2] for url in site.asked] == ["", "contact", "about", "team"]
    assert reading.stop == "nothing-left"
    assert website(reading).emails == ()


def test_the_page_budget_holds_whatever_fails() -> None:
    links = "".join(
        f'<a href="/{kind}-{n}">x</a>' for kind in ("contact", "impressum", "about", "team") for n in range(9)
    )
    site = RecordedSite({"https://firm.com/": f"<title>Firm</title>{links}{WORDS}"})
    reading = read(site, settings=SiteSettings(pages=4))
    assert len(site.asked) == 4
    assert (reading.stop, len(reading.problems)) == ("pages", 3)


def test_the_time_budget_holds() -> None:
    now = [0.0]

    class Slow(RecordedSite):
        async def __call__(self, url: str, *, validators: Validators | None = None) -> Outcome:
            now[0] += 20
            return await super().__call__(url, validators=validators)

    site = Slow({"https://firm.com/": HOME, "https://firm.com/contact": WORDS, "https://firm.com/about": WORDS + "a"})
    reading = read(site, settings=SiteSettings(seconds=45), clock=lambda: now[0])
    assert len(site.asked) == 3
    assert (reading.status, reading.stop) == ("alive", "time")


def test_a_site_that_never_answers_is_left() -> None:
    class Silent(RecordedSite):
        async def __call__(self, url: str, *, validators: Validators | None = None) -> Outcome:
            self.asked.append(url)
            await asyncio.sleep(60)
            raise AssertionError

    site = Silent({})
    reading = read(site, settings=SiteSettings(seconds=0.3))
    assert len(site.asked) <= 4
    assert reading.triage is not None
    assert (reading.status, reading.triage.retryable) == ("dead", True)


@pytest.mark.parametrize(
    ("given", "works"),
    [
        ("https://firm.com/", "http://firm.com/"),
        ("https://firm.com/", "https://www.firm.com/"),
        ("http://www.firm.com/", "https://firm.com/"),
        ("https://firm.com/old/page.html", "https://firm.com/"),
    ],
)
def test_where_the_address_is_dead_others_are_tried(given: str, works: str) -> None:
    refused = FetchFailed(given, Failure.CONNECT, "refused", given)
    site = RecordedSite({given: refused, works: HOME})
    reading = read(site, given)
    assert (reading.status, reading.final_url) == ("alive", works)


def test_a_host_that_does_not_exist_is_not_asked_twice() -> None:
    site = RecordedSite({})
    reading = read(site)
    assert site.asked == ["https://firm.com/", "https://www.firm.com/"]
    assert reading.triage is not None
    assert (reading.status, reading.triage.retryable) == ("dead", False)
    assert "no_such_host" in reading.triage.evidence[0]


def test_who_does_not_want_us_is_not_pushed() -> None:
    for outcome, status in (
        (Refused("https://firm.com/", Reason.ROBOTS), "refused"),
        (FetchFailed("https://firm.com/", Failure.HTTP_STATUS, status=403), "blocked"),
    ):
        site = RecordedSite({"https://firm.com/": outcome})
        assert read(site).status == status
        assert len(site.asked) == 1


def test_a_site_where_nobody_listens_is_dead_unless_another_spelling_is_only_slow() -> None:
    refused = FetchFailed("http://firm.com/", Failure.NOBODY_LISTENS)
    names = ("http://firm.com/", "https://firm.com/", "http://www.firm.com/", "https://www.firm.com/")
    everywhere = {name: replace(refused, url=name) for name in names}
    dead = read(RecordedSite(dict(everywhere)), names[0]).triage
    assert dead is not None
    assert (dead.status, dead.retryable) == ("dead", False)
    slow = everywhere | {names[1]: FetchFailed(names[1], Failure.TIMEOUT)}
    later = read(RecordedSite(dict(slow)), names[0]).triage
    assert later is not None
    assert (later.status, later.retryable) == ("dead", True)


def test_a_deep_address_is_read_first_and_then_the_home_page() -> None:
    branch = '<title>Firm Springfield</title><a href="/locations/springfield/contact">Contact</a>' + WORDS
    site = RecordedSite(
        {
            "https://firm.com/locations/springfield": branch,
            "https://firm.com/": HOME,
            "https://firm.com/locations/springfield/contact": CONTACT,
        }
    )
    read(site, "https://firm.com/locations/springfield")
    assert site.asked[:2] == ["https://firm.com/locations/springfield", "https://firm.com/"]
    assert "https://firm.com/locations/springfield/contact" in site.asked


def test_pages_that_nobody_links_to_are_found_in_the_sitemap() -> None:
    index = "<sitemapindex><sitemap><loc>https://firm.com/page-sitemap.xml</loc></sitemap></sitemapindex>"
    pages = (
        "<urlset><url><loc>https://firm.com/kontakt</loc></url><url><loc>https://other.com/kontakt</loc></url></urlset>"
    )
    site = RecordedSite(
        {
            "https://firm.com/": "<title>Firm</title>" + WORDS,
            "https://firm.com/sitemap.xml": page("https://firm.com/sitemap.xml", index, mime="application/xml"),
            "https://firm.com/page-sitemap.xml": page("https://firm.com/page-sitemap.xml", pages, mime="text/xml"),
            "https://firm.com/kontakt": CONTACT,
        }
    )
    assert website(read(site)).primary_email == "info@firm.com"
    assert not any("other.com" in url for url in site.asked)


def test_one_page_under_many_addresses_counts_once() -> None:
    links = '<a href="/contact">a</a> <a href="/contact?x=1">b</a> <a href="/en/contact">c</a>'
    pages: dict[str, str | Outcome] = {
        "https://firm.com/": f"<title>Firm</title>{links}{WORDS}",
        "https://firm.com/contact": WORDS,
        "https://firm.com/contact?x=1": WORDS,
        "https://firm.com/en/contact": page("https://firm.com/en/contact", WORDS, final_url="https://firm.com/contact"),
    }
    assert len(read(RecordedSite(pages)).pages) == 2


def test_pages_that_lead_away_are_not_the_sites() -> None:
    away = page("https://firm.com/contact", CONTACT, final_url="https://forms.com/firm")
    reading = read(RecordedSite({"https://firm.com/": HOME, "https://firm.com/contact": away}))
    assert len(reading.pages) == 1
    assert "https://forms.com/firm" in reading.problems[0].reason


def test_another_company_is_not_read() -> None:
    casino = page(
        "https://firm.com/",
        "<title>Casino</title><a href='mailto:x@casino.com'>Write</a>",
        final_url="https://casino.com/",
    )
    site = RecordedSite({"https://firm.com/": casino})
    reading = read(site, expected=Expected(names=("Firm Plumbing",)))
    assert (reading.status, len(site.asked), reading.final_url) == ("redirected", 1, "https://casino.com/")
    record = website(reading)
    assert (record.emails, record.phones, record.pages_read) == ((), (), ("https://casino.com/",))


def test_a_company_that_moved_is_read_where_it_is() -> None:
    new = page("https://firm.com/", HOME, final_url="https://firm-plumbing.de/")
    site = RecordedSite({"https://firm.com/": new, "https://firm-plumbing.de/contact": CONTACT})
    reading = read(site)
    record = website(reading)
    assert (record.status, record.final_url) == ("alive", "https://firm-plumbing.de/")
    assert record.phones


def test_a_page_that_sends_its_reader_on_is_followed_but_not_for_ever() -> None:
    refresh = '<meta http-equiv="refresh" content="0; url={}">'
    site = RecordedSite({"https://firm.com/": refresh.format("/de/"), "https://firm.com/de/": HOME})
    assert read(site).final_url == "https://firm.com/de/"
    pages: dict[str, str | Outcome] = {"https://firm.com/": refresh.format("/1")}
    pages |= {f"https://firm.com/{n}": refresh.format(f"/{n + 1}") for n in range(1, 50)}
    assert len(read(RecordedSite(pages)).pages) <= 2


def test_what_is_no_page_is_not_read() -> None:
    picture = page("https://firm.com/contact", "x", mime="application/json")
    reading = read(RecordedSite({"https://firm.com/": HOME, "https://firm.com/contact": picture}))
    assert "application/json" in reading.problems[0].reason


def test_a_page_that_did_not_change_is_read_from_the_shelf() -> None:
    class Stocked(NoShelf):
        async def validators(self, url: str) -> Validators | None:
            return Validators(etag='"1"')

        async def again(self, url: str) -> Kept | None:
            html = HOME if url.endswith("/") else CONTACT
            return Kept(for_country(page_document(page(url, html), account="a"), "US"), NOON)

    same: dict[str, str | Outcome] = {
        url: NotModified(url, url, NOON) for url in ("https://firm.com/", "https://firm.com/contact")
    }
    site = RecordedSite(same)
    reading = read(site, shelf=Stocked())
    assert site.shown == [Validators(etag='"1"')] * 2
    assert website(reading).primary_email == "info@firm.com"


class SecureShelf(NoShelf):
    """What was kept of a site whose address led to `https://www.firm.com/`."""

    async def validators(self, url: str) -> Validators | None:
        if url == "https://www.firm.com/":
            return Validators(etag='"1"', last_modified="Mon, 16 Nov 2026 08:00:00 GMT")
        return None

    async def again(self, url: str) -> Kept | None:
        if url != "https://www.firm.com/":
            return None
        return Kept(page_document(page(url, HOME), account="a"), NOON)


def test_a_home_page_that_did_not_change_is_known_by_where_its_address_led() -> None:
    asked, there = "http://firm.com/", "https://www.firm.com/"
    contact = page("https://www.firm.com/contact", CONTACT)
    site = RecordedSite({asked: NotModified(asked, there, NOON), "https://www.firm.com/contact": contact})
    reading = read(site, asked, shelf=SecureShelf())
    assert site.shown[0] == Validators(etag='"1"')
    assert site.asked == [asked, "https://www.firm.com/contact"]
    assert (reading.final_url, website(reading).primary_email) == (there, "info@firm.com")


def test_a_tag_that_fits_another_page_loses_none() -> None:
    class Confused(RecordedSite):
        async def __call__(self, url: str, *, validators: Validators | None = None) -> Outcome:
            outcome = await super().__call__(url, validators=validators)
            return NotModified(url, url, NOON) if validators else outcome

    site = Confused({"http://firm.com/": HOME, "http://firm.com/contact": CONTACT})
    reading = read(site, "http://firm.com/", shelf=SecureShelf())
    assert site.asked == ["http://firm.com/", "http://firm.com/", "http://firm.com/contact"]
    assert website(reading).primary_email == "info@firm.com"


def test_a_page_that_was_kept_for_another_country_is_read_by_ours() -> None:
    class Stocked(NoShelf):
        async def validators(self, url: str) -> Validators | None:
            return Validators(etag='"1"')

        async def again(self, url: str) -> Kept | None:
            html = "<title>Firm</title><p>Telephone: 0161 496 0123</p>"
            return Kept(for_country(page_document(page(url, html), account="a"), "US"), NOON)

    site = RecordedSite({"https://firm.com/": NotModified("https://firm.com/", "https://firm.com/", NOON)})
    reading = read(site, shelf=Stocked(), country="GB")
    assert [phone.e164 for phone in website(reading).phones] == ["+441614960123"]


def test_pages_that_somebody_deleted_are_not_read() -> None:
    class Deleting(NoShelf):
        async def keep(self, page: Fetched, country: str | None) -> Kept:
            if page.final_url.endswith("/contact"):
                raise DocumentDeleted(doc=page.final_url, deleted_at="2026-11-15T12:00:00Z")
            return await super().keep(page, country)

    site = RecordedSite({"https://firm.com/": HOME, "https://firm.com/contact": CONTACT})
    reading = read(site, shelf=Deleting())
    assert [one.url for one in reading.problems][:1] == ["https://firm.com/contact"]
    assert website(reading).emails == ()


def test_national_numbers_are_read_by_the_country_of_the_place() -> None:
    site = RecordedSite({"https://firm.com/": "<title>Firm</title><p>Telephone: 0161 496 0123</p>"})
    assert [phone.e164 for phone in website(read(site, country="GB")).phones] == ["+441614960123"]


def test_what_is_read_depends_on_the_document_alone() -> None:
    latin = "<title>Bäckerei</title><p>Über uns: info@firm.com</p>".encode("latin-1")
    fetched = Fetched(
        "https://firm.com/",
        "https://firm.com/",
        200,
        {"content-type": "text/html; charset=ISO-8859-1"},
        latin,
        "text/html",
        "iso8859-1",
        NOON,
    )
    document = for_country(page_document(fetched, account="a"), "DE")
    assert parse_document(document).title == "Bäckerei"
    facts = read_document(document)
    assert facts_from_json(facts_to_json(facts)) == facts


@given(st.text(max_size=300))
def test_facts_survive_their_file(html: str) -> None:
    body = f"<title>x</title>{html} <a href='mailto:a.b@firm.com'>x</a> Mo-Fr 8:00-17:00 +49 30 901820 {html}"
    facts = read_page(body, "https://firm.com/kontakt", "DE")
    assert facts_from_json(facts_to_json(facts)) == facts


def test_facts_of_another_shape_are_an_error() -> None:
    facts = facts_to_json(read_page("x", "https://firm.com/"))
    for broken in ({}, {**facts, "kind": "nonsense"}, {**facts, "emails": [{"value": 1}]}, {**facts, "url": 7}):
        with pytest.raises(RecordError):
            facts_from_json(broken)


PIECES = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "\\ud800",
            "\\udc00x",
            "a@firm.com",
            "+16205552345",
            "\x00",
            "\x1f",
            "\\u0007",
            "https://facebook.com/a",
            "<b>",
        ]
    ),
)


@given(st.lists(PIECES, min_size=6, max_size=6))
def test_whatever_a_page_says_can_be_kept(pieces: list[str]) -> None:
    name, about, mail, phone, street, script = pieces
    html = f"""<title>{name}</title><meta name="generator" content="{about}"><meta name="description" content="{mail}">
    <script type="application/ld+json">{{"@type": "LocalBusiness", "name": "{name}", "description": "{about}",
    "email": "{mail}@firm.com", "telephone": "{phone}", "sameAs": ["https://facebook.com/firm{street}"],
    "address": {{"streetAddress": "{street}", "addressLocality": "Town", "postalCode": "67001"}}}}</script>
    <script>var m = "{script}" + "@firm.com {about}";</script><a href="mailto:{mail}">{phone}</a><p>{street} {mail}
    <form action="{script}"><textarea name="m"></textarea><input type="email" name="email"></form>"""
    reading = read(
        RecordedSite({"https://firm.com/": page("https://firm.com/", html.encode("utf-8", "replace").decode())})
    )
    record = website(reading)
    for one in reading.pages:
        assert facts_from_json(facts_to_json(one.facts)) == one.facts
        assert one.kept.document.with_data("page", facts_to_json(one.facts)).digest
    assert record.model_dump_json()


LETTERS = st.sampled_from(["contact", "about", "team", "impressum", "x", "..", "contact/contact", "?month=1", "#", "%"])


@given(st.dictionaries(LETTERS, st.lists(LETTERS, max_size=6), max_size=8), st.integers(1, 8))
def test_any_tangle_of_pages_ends_within_the_budget(links: dict[str, list[str]], pages: int) -> None:
    def html(name: str) -> str:
        return f"<title>Firm</title>{WORDS}" + "".join(f'<a href="/{one}">{one}</a>' for one in links.get(name, ()))

    known: dict[str, str | Outcome] = {f"https://firm.com/{name}": html(name) + name for name in links}
    site = RecordedSite({"https://firm.com/": html("contact"), **known})
    reading = read(site, settings=SiteSettings(pages=pages))
    assert len(site.asked) <= pages
    assert len(set(site.asked)) == len(site.asked)
    assert reading.status == "alive"
