"""A digest of changes: a message that is ready to be sent, as text and HTML. Names were scraped: all is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from html import escape
from typing import TYPE_CHECKING

from cocli.formats.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class DigestHead:
    """Whom a digest is for, and what it is about."""

    campaign: str
    watch: str
    delivery: str
    at: datetime
    to: Sequence[str] = ()


def render_digest(head: DigestHead, fields: Sequence[str], rows: Sequence[Mapping[str, str | None]]) -> bytes:
    """The message, as an `.eml` file."""
    message = EmailMessage(policy=SMTP)
    many = "change" if len(rows) == 1 else "changes"
    message["Subject"] = f"{head.campaign}: {len(rows)} {many} ({head.watch})"
    message["Date"] = head.at
    message["Message-ID"] = f"<{head.delivery}@cocli.invalid>"
    if head.to:
        message["To"] = ", ".join(head.to)
    message["X-Unsent"] = "1"
    message.set_content(_text(fields, rows))
    message.add_alternative(_html(head, fields, rows), subtype="html")
    return message.as_bytes()


def _text(fields: Sequence[str], rows: Sequence[Mapping[str, str | None]]) -> str:
    blocks = ["\n".join(f"{field}: {safe_line(row.get(field) or '')}" for field in fields) for row in rows]
    return "\n\n".join(blocks) + "\n"


def _html(head: DigestHead, fields: Sequence[str], rows: Sequence[Mapping[str, str | None]]) -> str:
    heading = "".join(f"<th>{escape(field)}</th>" for field in fields)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(safe_line(row.get(field) or ''))}</td>" for field in fields) + "</tr>"
        for row in rows
    )
    title = escape(f"{head.campaign}: {head.watch}")
    return f"<!DOCTYPE html><html><body><h1>{title}</h1><table><tr>{heading}</tr>{body}</table></body></html>\n"
