"""How what was found on a website is shown: for people and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocli.cli.output import Output
    from cocli.workers.enrichment import Enriched

_CONTEXT = 60


def enriched_document(found: Enriched, *, saved: bool) -> dict[str, Any]:
    """One site, as `--json` has it."""
    website, reading = found.website, found.reading
    return {
        "domain": website.domain,
        "url": reading.asked,
        "final_url": website.final_url,
        "status": website.status,
        "evidence": list(website.evidence),
        "retryable": bool(reading.triage and reading.triage.retryable),
        "verdict": found.verdict.kind,
        "title": website.title,
        "description": website.description,
        "primary_email": website.primary_email,
        "emails": [one.model_dump(mode="json") for one in website.emails],
        "phones": [one.model_dump(mode="json") for one in website.phones],
        "socials": [{"network": network, "profile": url} for network, url in website.socials.items()],
        "contact_forms": list(website.contact_forms),
        "technologies": list(website.technologies),
        "pages_read": list(website.pages_read),
        "problems": [asdict(one) for one in reading.problems],
        "requests": reading.requests,
        "stop": reading.stop,
        "mx": [{"domain": name, "state": one.state, "hosts": list(one.hosts)} for name, one in found.mx.items()],
        "saved": saved,
        "written": asdict(found.written),
        "document": website.document,
        "crawled_at": website.crawled_at,
    }


def show_enriched(output: Output, found: Enriched) -> None:
    """One site, for a person: the status and why, then the values with their pages."""
    website, reading = found.website, found.reading
    moved = f" → {website.final_url}" if website.final_url and website.final_url != reading.asked else ""
    output.line(f"{website.domain}  {website.status}  {reading.asked}{moved}")
    for line in website.evidence:
        output.line(f"  because {line}")
    if website.title:
        output.line(f"  title: {website.title}")
    if website.emails:
        rows = [
            (
                ("* " if one.email == website.primary_email else "  ") + one.email,
                one.relation,
                one.name or one.label,
                one.method,
                one.page,
                _short(one.context),
            )
            for one in website.emails
        ]
        output.table(("e-mail (* primary)", "whose", "reader", "method", "page", "context"), rows)
    if website.phones:
        phones = [(one.e164, one.raw, one.kind, one.method, one.page) for one in website.phones]
        output.table(("phone", "as written", "kind", "method", "page"), phones)
    for network, profile in website.socials.items():
        output.line(f"  {network}: {profile}")
    for form in website.contact_forms:
        output.line(f"  contact form: {form}")
    for name, answer in found.mx.items():
        output.line(f"  mail of {name}: {', '.join(answer.hosts) or answer.state}")
    for problem in reading.problems:
        output.talk(f"not read: {problem.url} ({problem.reason})")
    output.talk(f"{len(website.pages_read)} pages read with {reading.requests} requests; stopped: {reading.stop}.")


def _short(context: str | None) -> str:
    text = context or ""
    return text if len(text) <= _CONTEXT else f"{text[: _CONTEXT - 1]}…"
