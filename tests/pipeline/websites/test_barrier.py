"""An extractor that fails on a page costs its own facts there: the others, the page, and the site go on."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime

import pytest

from cocli.pipeline.websites import parse_page, read_page
from cocli.pipeline.websites.facts import facts as facts_module
from cocli.pipeline.websites.facts.barrier import Barrier
from cocli.pipeline.websites.facts.emails import find as email_forms
from cocli.pipeline.websites.facts.stored_facts import facts_from_json, facts_to_json
from cocli.pipeline.websites.fetch.outcome import Failure, Fetched, FetchFailed, Outcome, Validators
from cocli.pipeline.websites.page.page import Page
from cocli.pipeline.websites.site import look
from cocli.pipeline.websites.site.shelf import NoShelf
from cocli.pipeline.websites.site.site import read_site

HTML = (
    "<title>Hainwerk</title><p><a href='mailto:info@hainwerk.de'>Mail</a> oder info@hainwerk.de, "
    "Tel. 030 23125042</p><a href='/kontakt'>Kontakt</a>"
)
URL = "https://www.hainwerk.de/"


class _BrokenError(Exception):
    """A mistake of ours that nobody has found yet."""


def _broken(*_: object) -> object:
    raise _BrokenError("no such thing as this page")


def test_the_other_extractors_go_on(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    whole = read_page(HTML, URL, "DE")
    monkeypatch.setattr(facts_module, "read_phones", _broken)
    with caplog.at_level(logging.WARNING, "cocli"):
        facts = read_page(HTML, URL, "DE")
    assert (facts.emails, facts.phones) == (whole.emails, ())
    assert [(failure.extractor, failure.reason) for failure in facts.failures] == [
        ("phones", "_BrokenError: no such thing as this page")
    ]
    assert any(record.getMessage() == "extractor failed" for record in caplog.records)


def test_a_form_of_addresses_that_fails_costs_its_own_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def in_text(page: Page) -> object:
        raise _BrokenError(page.url)

    forms = tuple(in_text if form.__name__ == "in_text" else form for form in email_forms.FORMS)
    monkeypatch.setattr(email_forms, "FORMS", forms)
    facts = read_page(HTML, URL, "DE")
    assert [email.value for email in facts.emails] == ["info@hainwerk.de"]
    assert [failure.extractor for failure in facts.failures] == ["in_text"]


def test_failures_are_kept_with_the_page_and_facts_from_before_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = read_page(HTML, URL, "DE")
    assert "failures" not in facts_to_json(sound)
    assert facts_from_json(facts_to_json(sound)) == sound
    monkeypatch.setattr(facts_module, "find_hours", _broken)
    broken = read_page(HTML, URL, "DE")
    assert facts_from_json(facts_to_json(broken)) == broken
    assert broken.failures


def test_memory_that_is_not_there_is_no_page_s_fault() -> None:
    def find() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        Barrier(URL).attempt("phones", find, None)


def test_a_site_goes_on_behind_a_page_that_no_parser_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = parse_page

    def fragile(html: str, url: str = "") -> Page:
        if "kontakt" in url:
            raise _BrokenError("the parser")
        return parse(html, url)

    async def fetch(url: str, *, validators: Validators | None = None) -> Outcome:
        if url.rstrip("/") not in (URL.rstrip("/"), f"{URL}kontakt", f"{URL}impressum"):
            return FetchFailed(url, Failure.NO_SUCH_HOST, "not here")
        body = HTML + "<a href='/impressum'>Impressum</a>" if url == URL else f"<p>{url} chef@hainwerk.de</p>"
        at = datetime(2026, 11, 17, tzinfo=UTC)
        return Fetched(url, url, 200, {"content-type": "text/html"}, body.encode(), "text/html", None, at)

    monkeypatch.setattr(look, "parse_page", fragile)
    reading = asyncio.run(read_site(URL, fetch=fetch, shelf=NoShelf()))
    emails = {page.url: [email.value for email in page.facts.emails] for page in reading.pages}
    assert emails[f"{URL}kontakt"] == []
    assert emails[f"{URL}impressum"] == ["chef@hainwerk.de"]
    assert any("_BrokenError" in problem.reason for problem in reading.problems)
