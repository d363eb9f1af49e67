"""Why a prospect has a value: the value, each observation of it, the rule that chose, the document it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.app.documents.documents import opened_documents
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.why.answers import KEPT, MERGED, Explanation, FieldLine, ObservedValue, Overview, PersonalValue
from cocli.app.why.emails import email_entries, email_observations, email_trail
from cocli.app.why.observations import told_of
from cocli.app.why.prospect import find_prospect
from cocli.app.why.trace import Tracer, email_origin
from cocli.app.workspace import location
from cocli.config.schema import did_you_mean
from cocli.errors import UsageError
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect
from cocli.pipeline.merge.engine import implied_by_sources
from cocli.pipeline.merge.rules import EXCEPTIONS, MEANING, RULES, SOURCES, MergeRule
from cocli.pipeline.sources.imports import IMPORT
from cocli.results.companies.overrides import COVERED, written_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.why.observations import Told
    from cocli.app.why.prospect import Meant
    from cocli.app.workspace import Workspace
    from cocli.models.email import EmailEntry

ALIASES = {"email": "primary_email", "emails": "all_emails", "address": "street"}
_NOT_ASKED = ("origins",)
_WEIGHED = (MergeRule.BEST, MergeRule.PAIRED, MergeRule.ENTRIES)


_KEYS = {key: fields for key, fields in COVERED.items() if key != "tags"}
"""Key of a person's own on a company's page → the fields that it stands before."""


# --- all fields


def overview(workspace: Workspace, campaign: str, who: str) -> Overview:
    """One line for each value that a prospect has."""
    indexes = campaign_indexes(workspace, campaign)
    meant = find_prospect(indexes, who)
    prospect, entries = meant.prospect, email_entries(indexes, meant.prospect)
    lines = [_line(prospect, name) for name in field_names(prospect) if "@" not in name]
    for email in prospect.all_emails:
        trail = entries.get(email)
        origin = email_origin(prospect, email, trail)
        lines.append(FieldLine(email, trail.source_page if trail else None, *_seen(origin)))
    merged = sorted(record.company_hash for record in meant.merged)
    written = [found for key in (*_KEYS, "status") if (found := _written(indexes, meant, key))]
    return Overview(campaign, prospect.company_hash, prospect.name, meant.asked, merged, lines, written)


def _written(indexes: Indexes, meant: Meant, key: str) -> PersonalValue | None:
    page = meant.page
    value = written_texts(page.company).get(key) if page else None
    if page and value:
        return PersonalValue(key, value, location(indexes.store, page.key))
    return None


def _line(prospect: Prospect, name: str) -> FieldLine:
    return FieldLine(name, value_of(prospect, name), *_seen(prospect.origin_of(name)))


def _seen(origin: Origin | None) -> tuple[str | None, datetime | None, str | None, str | None]:
    if origin:
        return (origin.source, origin.observed_at, origin.document, origin.reason)
    return (None,) * 4


def field_names(prospect: Prospect) -> list[str]:
    """What can be asked of a prospect: its filled fields, the entries of its maps, its addresses."""
    names: list[str] = []
    for name in RULES[Prospect]:
        value = getattr(prospect, name)
        if name in _NOT_ASKED or value in (None, "", (), {}):
            continue
        names += [f"{name}.{entry}" for entry in sorted(value)] if isinstance(value, dict) else [name]
    return [*names, *prospect.all_emails]


def value_of(prospect: Prospect, name: str) -> Any:
    field, _, entry = name.partition(".")
    value = getattr(prospect, field)
    if entry and isinstance(value, dict):
        return value.get(entry)
    return value


# --- one field


def explain(workspace: Workspace, campaign: str, who: str, asked: str) -> Explanation:
    """Why a prospect has this value; for addresses also how they were found."""
    indexes = campaign_indexes(workspace, campaign)
    meant = find_prospect(indexes, who)
    name = _known_field(meant.prospect, asked)
    return explain_fields(workspace, indexes, meant, [name])[0]


def explain_fields(workspace: Workspace, indexes: Indexes, meant: Meant, names: Sequence[str]) -> list[Explanation]:
    """The same for several fields of one prospect. The documents are read once."""
    campaign = needed_campaign(indexes).name
    with opened_documents(workspace, campaign) as documents:
        tracer = Tracer(documents)
        told = told_of(indexes, documents, tracer, meant)
        entries = email_entries(indexes, meant.prospect)
        every = []
        for name in names:
            found = _explained(indexes, meant, told, entries, name)
            _add_documents(found, tracer)
            if any(uuid not in {document.uuid for document in found.documents} for uuid in _named(found)):
                found.left_behind = documents.left_behind
            every.append(found)
    return every


def _explained(indexes: Indexes, meant: Meant, told: Told, entries: Mapping[str, EmailEntry], name: str) -> Explanation:
    prospect = meant.prospect
    found = _explanation(needed_campaign(indexes).name, meant, name)
    keys = [key for key, fields in _KEYS.items() if name in fields] or ["email"] * ("@" in name)
    every = [_written(indexes, meant, key) for key in reversed(keys)]  # a part of an address before the whole
    found.written = next((value for value in every if value), None)
    found.problems = list(told.problems)
    found.emails = [email_trail(prospect, email, entries.get(email), told) for email in _addresses(prospect, name)]
    if "@" in name:
        found.observations = list(email_observations(prospect, name, entries.get(name), told))
    else:
        found.observations = list(_observations(meant, told, name))
    return found


def _add_documents(found: Explanation, tracer: Tracer) -> None:
    named = _named(found)
    rows = tracer.rows(named)
    found.documents = [tracer.view(rows[uuid]) for uuid in named if uuid in rows]
    found.problems += [f"document {uuid} is not in the repository" for uuid in named if uuid not in rows]


def _named(found: Explanation) -> list[str]:
    """The documents that the observations name, each once."""
    all_named = [
        *(observed.document for observed in found.observations),
        *(observed.document for observed in found.emails),
    ]
    return list(dict.fromkeys(uuid for uuid in all_named if uuid))


def _known_field(prospect: Prospect, asked: str) -> str:
    name = ALIASES.get(asked.strip().lower(), asked.strip().lower())
    known = [*field_names(prospect), *(field for field in RULES[Prospect] if field not in _NOT_ASKED)]
    if name in known:
        return name
    if f"socials.{name}" in known:
        return f"socials.{name}"
    choices = ", ".join(field_names(prospect))
    raise UsageError(
        reason=f'{prospect.name} has no field "{asked}". It has: {choices}.',
        hint=did_you_mean(name, known, f"See them all with: cocli why {prospect.company_hash} -c {prospect.campaign}"),
    )


def _explanation(campaign: str, meant: Meant, name: str) -> Explanation:
    prospect = meant.prospect
    rule = MergeRule.UNION if "@" in name else RULES[Prospect][name.partition(".")[0]]
    return Explanation(
        campaign,
        prospect.company_hash,
        prospect.name,
        name,
        name if "@" in name else value_of(prospect, name),
        rule.value,
        MEANING[rule],
        moved_from=meant.asked,
        merged=sorted(record.company_hash for record in meant.merged),
    )


def _addresses(prospect: Prospect, name: str) -> list[str]:
    if "@" in name:
        return [name]
    if name == "all_emails":
        return list(prospect.all_emails)
    if name == "primary_email" and prospect.primary_email:
        return [prospect.primary_email]
    return []


# --- observations


def _observations(meant: Meant, told: Told, name: str) -> Iterator[ObservedValue]:
    """Of the prospect, of what was merged into it, and of the documents; each that says the same once."""
    records = [(KEPT, meant.prospect), *((MERGED, record) for record in meant.merged), *told.records]
    seen: set[tuple[str, str, str | None]] = set()
    field = name.partition(".")[0]
    weighed = RULES[Prospect][field] in _WEIGHED
    for told_by, record in records:
        value = value_of(record, name)
        if value in (None, "", (), {}):
            continue
        origin = record.origin_of(name) or _implied(record)
        same = (repr(value), origin.source, origin.document)
        if same in seen:
            continue
        seen.add(same)
        yield ObservedValue(
            value,
            origin.source,
            origin.observed_at,
            told_by,
            kept=told_by == KEPT,
            weight=weight_of(field, origin.source) if weighed else None,
            reason=origin.reason or _pointer_reason(told_by, record),
            document=origin.document,
            record=record.company_hash if told_by == MERGED else None,
        )


def _pointer_reason(told_by: str, record: Prospect) -> str | None:
    """Why a record was merged."""
    pointer = record.origin_of("merged_into") if told_by == MERGED else None
    if pointer:
        return pointer.reason
    return None


def _implied(record: Prospect) -> Origin:
    return Origin(fields=(), source=implied_by_sources(record.sources), observed_at=record.updated_at)


def weight_of(field: str, source: str) -> int:
    """How much a source counts for a field, by the tables of the merge rules."""
    usual = SOURCES.get(source, SOURCES[IMPORT])
    paired = "lat" if field == "lon" else field
    return EXCEPTIONS[Prospect].get(paired, {}).get(source, usual)
