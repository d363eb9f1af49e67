"""How what was found on a website is shown to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.app.websites.enriched_site import EnrichedSite
    from cocli.cli.kit.output import Output

_CONTEXT = 60


def show_enriched(output: Output, site: EnrichedSite) -> None:
    """One site, for a person: the status and why, then the values with their pages."""
    moved = f" → {site.final_url}" if site.final_url and site.final_url != site.url else ""
    output.line(f"{site.domain}  {site.status}  {site.url}{moved}")
    for line in site.evidence:
        output.line(f"  because {line}")
    if site.title:
        output.line(f"  title: {site.title}")
    if site.emails:
        rows = [
            (
                ("* " if email.email == site.primary_email else "  ") + email.email,
                email.relation,
                email.name or email.label,
                email.method,
                email.page,
                _short(email.context),
            )
            for email in site.emails
        ]
        output.table(("e-mail (* primary)", "whose", "reader", "method", "page", "context"), rows)
    if site.phones:
        phones = [(phone.e164, phone.raw, phone.kind, phone.method, phone.page) for phone in site.phones]
        output.table(("phone", "as written", "kind", "method", "page"), phones)
    for profile in site.socials:
        output.line(f"  {profile.network}: {profile.profile}")
    for form in site.contact_forms:
        output.line(f"  contact form: {form}")
    for mail in site.mx:
        output.line(f"  mail of {mail.domain}: {', '.join(mail.hosts) or mail.state}")
    for problem in site.problems:
        output.talk(f"not read: {problem.url} ({problem.reason})")
    output.talk(f"{len(site.pages_read)} pages read with {site.requests} requests; stopped: {site.stop}.")


def _short(context: str | None) -> str:
    text = context or ""
    return text if len(text) <= _CONTEXT else f"{text[: _CONTEXT - 1]}…"
