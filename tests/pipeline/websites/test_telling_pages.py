"""Which pages tell whether a site's contacts are right, and when all of its pages are due again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.models.work import EnrichmentWork
from cocli.pipeline.websites.facts.facts import PageFacts, read_page
from cocli.pipeline.websites.site.record import ReadPage, SiteState, website_of
from cocli.pipeline.websites.site.telling_pages import WHOLE_LOOK, is_whole_look_due, telling_pages
from cocli.pipeline.websites.site.trace import TracedAnswer, VisitTrace

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
MAIL = '<a href="mailto:info@firm.com">Write</a>'
CALL = '<a href="tel:+16205552345">Call</a>'
ADDRESS = "<p>12 Mill Road, Ostwick, KS 67890</p>"


def pages(**bodies: str) -> list[PageFacts]:
    return [read_page(f"<title>Firm</title>{html}", f"https://firm.com/{name}", "US") for name, html in bodies.items()]


def told(read: list[PageFacts]) -> list[str]:
    state = SiteState("firm.com", "https://firm.com/", "alive", final_url="https://firm.com/home")
    website = website_of(state, [ReadPage(page, None, NOON) for page in read], at=NOON)
    return [url.removeprefix("https://firm.com/") for url in telling_pages(website, read)]


@pytest.mark.parametrize(
    ("bodies", "expected"),
    [
        ({"home": "", "contact": MAIL + CALL, "about": MAIL}, ["contact"]),
        ({"home": MAIL, "contact": CALL + ADDRESS}, ["contact", "home"]),
        ({"home": MAIL + CALL, "contact": MAIL + CALL}, ["home"]),
        ({"home": "", "about": "<p>Since 1999</p>"}, ["home"]),
    ],
)
def test_the_fewest_pages_that_have_every_contact(bodies: dict[str, str], expected: list[str]) -> None:
    assert told(pages(**bodies)) == expected


def test_a_site_of_which_nothing_was_read_has_none() -> None:
    assert told([]) == []


@given(st.from_regex(r"[a-z]{1,12}\.com", fullmatch=True), st.integers(0, 5_000), st.integers(1, 60))
def test_no_page_goes_unasked_for_longer_than_the_period_and_one_interval(domain: str, start: int, days: int) -> None:
    every, last = timedelta(days=days), NOON + timedelta(days=start)
    whole = last
    for _ in range(2 * WHOLE_LOOK.days // days + 2):
        now = last + every
        if is_whole_look_due(domain, last, now):
            whole = now
        last = now
        assert now - whole <= WHOLE_LOOK + every


def test_whole_looks_of_a_list_are_spread_over_the_period() -> None:
    due = [
        next(day for day in range(91) if is_whole_look_due(f"firm{n}.com", NOON, NOON + timedelta(days=day)))
        for n in range(300)
    ]
    assert all(sum(start <= day < start + 30 for day in due) > 60 for start in (1, 31, 61))
    assert is_whole_look_due("firm.com", None, NOON)


def test_a_trace_is_read_as_it_was_written_and_an_older_one_not_at_all() -> None:
    answers = {"http://firm.com/": TracedAnswer("1a", "https://firm.com/", '"x"', None), "/gone": TracedAnswer("-")}
    trace = VisitTrace("basis", answers).with_telling(["https://firm.com/"])
    assert VisitTrace.from_data(trace.as_data()) == trace
    assert trace.brief() == {"https://firm.com/": answers["http://firm.com/"]}
    assert VisitTrace.from_data({"basis": "basis", "asked": [["http://firm.com/", "1a"]]}) is None


def test_a_site_without_a_page_is_asked_where_it_was_asked_first() -> None:
    answers = {"http://firm.com/": TracedAnswer("-"), "http://www.firm.com/": TracedAnswer("-")}
    assert VisitTrace("basis", answers).brief() == {"http://firm.com/": TracedAnswer("-")}


def test_a_task_says_that_it_is_brief_only_where_it_is() -> None:
    plain = EnrichmentWork(domain="firm.com", url="https://firm.com/")
    assert "brief" not in plain.model_dump(mode="json"), "a worker who does not know the word refuses it"
    again = plain.model_copy(update={"brief": True}).model_dump(mode="json")
    assert EnrichmentWork.model_validate(again).brief
