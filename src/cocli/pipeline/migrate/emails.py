"""The older e-mail index: an inbox of one address per file, and shards of many, 9 columns each → `EmailEntry`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.errors import IdentityError
from cocli.keys.identities import registrable_domain
from cocli.models.email import EmailEntry
from cocli.pipeline.migrate import facts
from cocli.pipeline.migrate.columns import OldColumn, Shape
from cocli.pipeline.migrate.layout import Layout
from cocli.pipeline.migrate.origins import recorded
from cocli.pipeline.migrate.row import misfit

if TYPE_CHECKING:
    from cocli.pipeline.migrate.row import Context, OldRow

NINE = (
    OldColumn("email", "email", "in lower case", Shape.EMAIL),
    OldColumn("domain", "domain", "the registrable part; that of the address where it is none"),
    OldColumn("company_slug", "", "a slug is no identity: eleven branches of a brand share one"),
    OldColumn("source", "method", "source_page where it is a web address"),
    OldColumn("found_at", "first_seen", "the earliest of the three", Shape.TIME),
    OldColumn("first_seen", "first_seen", "the earliest of the three", Shape.TIME),
    OldColumn("last_seen", "last_seen", "", Shape.TIME),
    OldColumn("verification_status", "verification", "unknown where today's words do not have it"),
    OldColumn("tags", "tags", "joined by ; with U+001E behind the last", Shape.TEXT),
)
_VERIFICATION = {
    "unknown": "unknown",
    "valid": "deliverable",
    "verified": "deliverable",
    "deliverable": "deliverable",
    "invalid": "undeliverable",
    "undeliverable": "undeliverable",
    "bounced": "undeliverable",
    "risky": "risky",
    "catch-all": "risky",
    "catch_all": "risky",
}


def entry(row: OldRow, context: Context) -> EmailEntry:
    """One row → one address."""
    found = facts.emails(row)
    if len(found) != 1:
        raise misfit("not one e-mail address")
    moments = [row.time("found_at"), row.time("first_seen"), row.time("last_seen")]
    known = [moment for moment in moments if moment] or [context.modified]
    source = row.text("source")
    is_page = bool(source) and str(source).startswith(("http://", "https://"))
    return recorded(
        EmailEntry,
        {
            "email": found[0],
            "domain": _domain(row, found[0]),
            "source_page": source if is_page else None,
            "method": None if is_page else source,
            "first_seen": min(known),
            "last_seen": max(known),
            "verification": _verification(row),
            "tags": tuple(tag for tag in row.many("tags") if re.fullmatch(r"[^\x00-\x1f\x7f]{1,1024}", tag)),
        },
        max(known),
    )


def _domain(row: OldRow, email: str) -> str:
    domain = facts.domain(row)
    if domain:
        return domain
    try:
        return registrable_domain(email.rpartition("@")[2])
    except IdentityError as error:
        raise misfit(f"neither its domain nor that of the address can be registered: {email[:80]}") from error


def _verification(row: OldRow) -> str:
    text = (row.text("verification_status") or "unknown").lower()
    if text not in _VERIFICATION:
        row.mended("verification_status read as unknown")
    return _VERIFICATION.get(text, "unknown")


LAYOUT = Layout(
    name="emails",
    index="emails",
    tables=(NINE,),
    begins=re.compile(rb"[^\s@\x1f\x1e]+@[^\s@\x1f\x1e]+\x1f"),
    convert=entry,
    aliases={"slug": "company_slug"},
    is_new=lambda names: {"email", "company_hash", "verification"} <= names,
)
