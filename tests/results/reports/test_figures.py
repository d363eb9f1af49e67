"""The figures against a plain count of the same records; the page against hostile texts; what is kept against races."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from cocli.app.results.report import MadeReport, make_report, read_report, render_html
from cocli.app.why.trace import untraced
from cocli.app.workspace import Workspace, open_workspace
from cocli.cli.root import run
from cocli.config.resolve import Flags
from cocli.errors import Denied
from cocli.formats import json_records
from cocli.index.cache import MemoryCache
from cocli.index.compaction import Compactor
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef, ReportKey
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect
from cocli.models.record import Record
from cocli.models.report import Counted, FillRate, Report, TrendPoint
from cocli.pipeline.indexes import open_index
from cocli.results.reports.figures import FIELDS
from cocli.results.reports.funnel import MOST_POINTS, trend_of
from cocli.results.reports.page import render_page
from cocli.results.reports.templating import plain_text

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>\u202e\x1b[31m\"'&{{ 7*7 }}"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    names = ("DATA_HOME", "CACHE_HOME", "STATE_HOME")
    environ = {"HOME": str(tmp_path), "COCLI_CONFIG": str(tmp_path / "user.toml")}
    environ |= {f"COCLI_{name}": str(tmp_path / name.lower()) for name in names}
    assert run(["campaign", "new", "plumbers", "--query", "plumber", "--quiet"], environ) == 0
    with open_workspace(environ, Flags()) as opened:
        yield opened


def write(workspace: Workspace, name: str, records: list[Any], *, packed: bool = True) -> None:
    ref = IndexRef(name) if name == "domains" else IndexRef(name, "plumbers")
    index = open_index(workspace.store, ref, MemoryCache())
    IndexWriter(index).append(records)
    if packed:
        Compactor(index).compact()


def prospect(number: int, **values: Any) -> Prospect:
    given: dict[str, Any] = {
        "company_hash": company_hash(f"domain:shop{number}.com"),
        "slug": f"shop-{number}",
        "name": f"Shop {number}",
        "campaign": "plumbers",
        "first_seen": NOON,
        "updated_at": NOON,
        "sources": ("overture",),
    }
    return Prospect(**(given | values))


def some_prospects(random: Random) -> list[Prospect]:
    choices: dict[str, list[Any]] = {
        "phone": [None, "", "0217 555", "a\\b\nc"],
        "website": [None, "https://x.example/"],
        "city": [None, "Springfield", "O'Reilly"],
        "lat": [None, 1.5],
        "rating": [None, 0.0, 4.5],
        "review_count": [None, 0, 7],
        "categories": [(), ("plumber", "shop"), ("baker",), (HOSTILE,), ("[]",)],
        "hours": [()],
        "socials": [{}, {"facebook": "https://facebook.com/x"}],
        "tags": [(), ("vip",)],
        "sources": [(), ("overture",), ("overture", "website")],
        "merged_into": [None, None, None, company_hash("domain:elsewhere.com")],
    }
    made = []
    for number in range(150):
        values = {name: random.choice(options) for name, options in choices.items()}
        values["domain"] = random.choice([None, f"shop{number}.com", f"shop{number % 20}.com"])
        emails = random.choice([(), (f"info@shop{number}.com",), (f"a{number}@gmail.com", f"b@shop{number}.com")])
        values |= {"all_emails": emails, "primary_email": random.choice([None, *emails])}
        made.append(prospect(number, **values))
    return made


def some_emails(random: Random, prospects: list[Prospect]) -> list[EmailEntry]:
    found = []
    for email in sorted({email for one in prospects for email in one.all_emails}):
        origin = Origin(fields=("domain", "method"), source=random.choice(["website", "import"]), observed_at=NOON)
        found.append(
            EmailEntry(
                email=email,
                domain=email.partition("@")[2],
                method=random.choice([None, "mailto", "text"]),
                label=random.choice([None, "role", "person"]),
                first_seen=NOON,
                last_seen=NOON,
                verification=random.choice(["unknown", "mx"]),
                origins=(origin,) if random.random() < 0.8 else (),
            )
        )
    return found


def filled(record: Record, name: str) -> bool:
    return getattr(record, name) not in (None, "", (), {})


@pytest.mark.parametrize("seed", range(2))
def test_the_figures_are_a_plain_count(workspace: Workspace, seed: int) -> None:
    random = Random(seed)
    everyone = some_prospects(random)
    emails = some_emails(random, everyone)
    domains = [Domain(domain=f"shop{n}.com", status=random.choice(["alive", "dead", None]), last_crawled=random.choice([None, NOON])) for n in range(0, 150, 2)]  # fmt: skip # noqa: E501
    write(workspace, "prospects", everyone[:100])
    write(workspace, "prospects", everyone[100:], packed=False)
    write(workspace, "emails", emails)
    write(workspace, "domains", domains)
    report = make_report(workspace, "plumbers").report
    known = [one for one in everyone if one.merged_into is None]
    assert (report.prospects, report.merged) == (len(known), len(everyone) - len(known))
    assert {one.field: one.filled for one in report.fields} == {
        name: sum(filled(one, name) for one in known) for name in FIELDS
    }
    steps = {step.name: step.count for step in report.funnel}
    assert steps["with an e-mail address"] == sum(bool(one.all_emails) for one in known)
    read = {one.domain for one in domains if one.status == "alive"}
    assert steps["with a website that was read"] == sum(one.domain in read for one in known)
    assert _counts(report.sources) == Counter(source for one in known for source in one.sources)
    assert _counts(report.categories) == Counter(one.categories[0] for one in known if one.categories)
    status = {one.domain: one.status for one in domains}
    own = {one.domain for one in known if one.domain}
    assert _counts(report.domains) == Counter(status.get(domain) or "unvisited" for domain in own)
    theirs = {email for one in known for email in one.all_emails}
    emails = [one for one in emails if one.email in theirs]  # nobody writes to a business that is another one
    assert report.emails.addresses == report.figures.emails == len(emails)
    assert _counts(report.emails.by_method) == Counter(one.method or "unknown" for one in emails)
    assert _counts(report.emails.by_source) == Counter(
        one.origins[0].source if one.origins else "unknown" for one in emails
    )
    relations = Counter(
        "own" if one.domain in own else "freemail" if one.domain == "gmail.com" else "other" for one in emails
    )
    assert _counts(report.emails.by_relation) == relations
    assert report.unpacked == {"prospects": 50}


def _counts(counted: Any) -> dict[str, int]:
    return {one.name: one.count for one in counted}


def test_a_campaign_without_anything_has_a_report(workspace: Workspace) -> None:
    made = make_report(workspace, "plumbers")
    assert made.report.prospects == 0
    assert made.report.coverage is None
    assert made.report.funnel[0].name == "prospects"
    assert read_report(workspace.store, "plumbers") == made.report
    assert "none yet" in render_html(made)


# --- the page


def test_scraped_texts_are_harmless_on_the_page(workspace: Workspace) -> None:
    write(workspace, "prospects", [prospect(1, categories=(HOSTILE,)), prospect(2, categories=("</style><b>",))])
    page = render_html(make_report(workspace, "plumbers"))
    tree = LexborHTMLParser(page)
    assert tree.css("script") == []
    assert tree.css("main b b, td b") == []
    assert page.count("</style>") == 1
    shown = [node.text() for node in tree.css("th")]
    assert "<script>alert(1)</script>[31m\"'&{{ 7*7 }}" in shown
    assert not set(page) & set("\x1b\u202e")


def test_the_policy_allows_exactly_the_style_sheet(workspace: Workspace) -> None:
    import base64
    import hashlib

    page = render_html(make_report(workspace, "plumbers"))
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.replace("&#39;", "'") == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style


def test_no_share_is_rounded_to_all_or_none_and_no_bar_to_nothing(workspace: Workspace) -> None:
    made = make_report(workspace, "plumbers")
    shares = {"name": 1.0, "phone": 0.99999, "website": 0.0001, "domain": 0.5, "street": 0.0}
    fields = tuple(FillRate(field=name, filled=1, share=share) for name, share in shares.items())
    rates = render_page(made.report.with_changes(fields=fields), None)
    table = LexborHTMLParser(rates).css_first('table[aria-label="Which fields are filled"]')
    assert table is not None
    assert [cell.text() for cell in table.css("td.soft")] == ["100%", "> 99.9%", "< 0.1%", "50.0%", "0%"]
    widths = [float(bar.attributes["width"] or "") for bar in table.css("rect")]
    assert (widths[0], widths[2], widths[3], widths[4]) == (100, 1, 50, 0)


def test_long_names_are_shortened_and_long_lists_folded_away(workspace: Workspace) -> None:
    made = make_report(workspace, "plumbers")
    names = ["hair_salon", "x" * 5_000, "", *(f"kind {number}" for number in range(15))]
    counted = tuple(Counted(name=name, count=3) for name in names)
    tree = LexborHTMLParser(render_page(made.report.with_changes(categories=counted), None))
    shown = [node.text() for node in tree.css("section:has(table[aria-label=Categories]) th")]
    assert shown[:3] == ["hair salon", "x" * 59 + "…", "(blank)"]
    assert len(shown) == len(names)
    assert [node.text() for node in tree.css("summary")] == ["6 more, 18 together"]


def test_the_page_can_be_read_without_seeing_it(workspace: Workspace) -> None:
    write(workspace, "prospects", some_prospects(Random(1)))
    tree = LexborHTMLParser(render_html(make_report(workspace, "plumbers")))
    assert [node.tag for node in tree.css("h1, h2")] == ["h1", *["h2"] * (len(tree.css("h2")))]
    assert all("aria-label" in table.attributes or table.css("thead th[scope=col]") for table in tree.css("table"))
    assert all(bar.attributes.get("aria-hidden") == "true" for bar in tree.css("td.b"))
    assert all("tabindex" in box.attributes for box in tree.css(".scroll"))
    identifiers = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(identifiers) == len(set(identifiers))


def test_invisible_marks_are_taken_out_of_a_line() -> None:
    assert plain_text("a\u202eb\u200bc\x00\nd") == "abc d"
    assert plain_text("Zoë’s Café 🔧") == "Zoë’s Café 🔧"


# --- keeping it


def test_of_two_reports_that_race_both_are_in_the_trend(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    write(workspace, "prospects", [prospect(1)])
    store, key = workspace.store, str(ReportKey("plumbers"))
    first = make_report(workspace, "plumbers").report
    original = store.put
    raced: list[Report] = []

    def put(name: str, data: bytes, **conditions: Any) -> str:
        if name == key and not raced:
            other = first.with_changes(at=first.at + timedelta(microseconds=1))
            raced.append(other.with_changes(trend=trend_of(other, first.trend)))
            original(key, json_records.render(raced[0]))
        return original(name, data, **conditions)

    monkeypatch.setattr(store, "put", put)
    last = make_report(workspace, "plumbers").report
    assert raced
    assert [point.at for point in last.trend][-3:] == [first.at, raced[0].at, last.at]
    assert read_report(store, "plumbers") == last


def test_a_report_of_another_version_gives_way(workspace: Workspace) -> None:
    key = str(ReportKey("plumbers"))
    workspace.store.put(key, b'{"schema": "cocli.report/99"}\n')
    report = make_report(workspace, "plumbers").report
    assert read_report(workspace.store, "plumbers") == report


def test_who_may_only_read_gets_the_figures_all_the_same(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def put(name: str, _data: bytes, **_conditions: Any) -> str:
        raise Denied(address="here", key=name, credentials="none", reason="read-only")

    write(workspace, "prospects", [prospect(1)])
    monkeypatch.setattr(workspace.store, "put", put)
    made: MadeReport = make_report(workspace, "plumbers")
    assert made.report.prospects == 1
    assert made.path is None
    assert "read-only" in (made.problem or "")
    assert made.report.trend[-1].at == made.report.at


def test_a_trend_stays_short_and_keeps_its_ends(workspace: Workspace) -> None:
    report = make_report(workspace, "plumbers").report
    points = [TrendPoint(at=report.at - timedelta(minutes=n), told_by="report", prospects=n) for n in range(1, 1000)]
    trend = trend_of(report, points)
    assert len(trend) <= MOST_POINTS
    assert trend[0].at == min(point.at for point in points)
    assert [point.at for point in trend] == sorted(point.at for point in trend)
    assert trend[-2].prospects == 1


# --- values without a document


def test_values_without_origin_or_document_are_counted(workspace: Workspace) -> None:
    origin = Origin(fields=("name",), source="import", observed_at=NOON)
    write(
        workspace,
        "prospects",
        [
            prospect(1, city="Springfield", origins=(origin,)),
            prospect(2, all_emails=("a@shop2.com",), origins=(origin,)),
            prospect(3, name="", phone="1", merged_into=company_hash("domain:shop1.com")),
        ],
    )
    found = untraced(workspace, "plumbers")
    assert (found.prospects, found.values, found.count) == (2, 4, 4)
    assert found.reasons == {"no document": 2, "no origin": 2}
    fields = {(one.field, one.reason) for one in found.examples}
    assert fields == {("name", "no document"), ("city", "no origin"), ("all_emails:a@shop2.com", "no origin")}
