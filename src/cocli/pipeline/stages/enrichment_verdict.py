"""How the task of a website ends: what the queue is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.models.completion import Blocked, Empty, Failed, Ok
from cocli.models.task import TaskError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from cocli.models.document import DocumentReference
    from cocli.models.website import Website
    from cocli.pipeline.merge.site_records import RecordCounts
    from cocli.pipeline.websites.site.site import SiteReading
    from cocli.queue.base import Verdict

MAX_EVIDENCE = 1_000
_BUSY = "the visit waited for this machine or for others for too long, and is not finished"


def verdict_of(
    website: Website,
    reading: SiteReading,
    written: RecordCounts,
    documents: Sequence[DocumentReference] = (),
    *,
    is_news: bool = True,
) -> Verdict:
    """`ok` with counts; `empty` where the site was read and has nothing; `blocked`; `failed`, for good or for now.

    What is no news is not set aside: the task that found it first was, and a person has it there once.
    """
    evidence = "; ".join((website.status, *website.evidence))[:MAX_EVIDENCE]
    retryable = reading.triage.retryable if reading.triage else False
    if reading.stop == "busy":
        error = TaskError(code="machine_busy", message=_BUSY, retryable=True)
        return Failed(error=error)
    if website.status == "alive":
        return _alive(website, reading, written, documents)
    if is_news and (website.status == "dead" or retryable):
        error = TaskError(code=f"site_{website.status}".replace("-", "_"), message=evidence, retryable=retryable)
        return Failed(error=error)
    if is_news and website.status in ("blocked", "script-shell"):
        return Blocked(reason=evidence)
    if website.status == "refused":
        return Ok(result={"status": "refused", "reason": evidence}, count=0)
    return Empty(evidence=_line(evidence if is_news else f"as before: {evidence}"))


def _alive(
    website: Website, reading: SiteReading, written: RecordCounts, documents: Sequence[DocumentReference]
) -> Verdict:
    found = len(website.emails) + len(website.phones) + len(website.socials)
    if not found:
        form = ", a contact form" if website.contact_forms else ""
        pages = f"{len(website.pages_read)} pages read ({reading.stop})"
        return Empty(evidence=_line(f"alive; {pages}, no address, no phone, no profile{form}"))
    result: dict[str, JsonValue] = {
        "status": website.status,
        "pages": len(website.pages_read),
        "requests": reading.requests,
        "stop": reading.stop,
        "emails": len(website.emails),
        "phones": len(website.phones),
        "socials": len(website.socials),
        "primary_email": website.primary_email,
        "prospects_changed": written.prospects,
        "emails_written": written.emails,
    }
    return Ok(result=result, documents=tuple(documents), count=found)


def _line(text: str) -> str:
    """On one line, for a label."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MAX_EVIDENCE] or "nothing"
