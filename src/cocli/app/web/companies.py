"""The companies of a campaign, a shard at a time: facts with their sources, what people wrote, what happened when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.companies.companies import exclusions_of, former_slugs
from cocli.app.companies.saving import person_values
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.indexes.query import QueryOptions, opened_query
from cocli.app.why.why import field_names, value_of
from cocli.errors import NotFound
from cocli.index.reader import open_reader
from cocli.models.web.company import (
    WebCompanies,
    WebCompany,
    WebContact,
    WebFact,
    WebMergedRecord,
    WebMoment,
    WebNote,
)
from cocli.pipeline.exclusions import exclusion_of
from cocli.results.companies.entries import meetings, notes
from cocli.results.companies.overrides import COVERED, written_texts
from cocli.results.companies.pages import page_about
from cocli.results.companies.people import people
from cocli.results.exports.cells import international_phone, mail_address, web_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic import JsonValue

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.web.site import DataSite
    from cocli.index.reader import IndexReader
    from cocli.models.note import Meeting, Note
    from cocli.models.prospect import Prospect
    from cocli.results.companies.entries import CompanyEntry
    from cocli.results.companies.pages import CompanyPage

SHARD_DIGITS = 3
_SHARD = re.compile(r"[0-9a-f]{3}")
_HASH = re.compile(r"[0-9a-f]{16}")
_UNSHOWN = frozenset(
    ("company_hash", "slug", "campaign", "first_seen", "updated_at", "merged_into", "people", "tags", "source_ids")
)
_POINTERS = "SELECT company_hash, merged_into FROM prospects_all WHERE merged_into IS NOT NULL ORDER BY company_hash"
_LABELS = {"phone_e164": "phone", "phone": "phone as written", "primary_email": "e-mail", "all_emails": "e-mails"}


@dataclass(frozen=True, slots=True)
class _Known:
    """What lies in the store about a prospect."""

    prospect: Prospect
    merged: tuple[Prospect, ...]
    page: CompanyPage | None


def shard_of(company_hash: str) -> str:
    return company_hash[:SHARD_DIGITS]


def shards_of(site: DataSite, name: str) -> list[str]:
    """The shards that have a company."""
    indexes = campaign_indexes(site.workspace, name)
    reader = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    return sorted({shard_of(prospect.company_hash) for prospect in reader.scan() if prospect.merged_into is None})


def make_companies(site: DataSite, name: str, shard: str) -> WebCompanies:
    if not _SHARD.fullmatch(shard):
        raise NotFound(key=f"{name}/companies/{shard}.json")
    indexes = campaign_indexes(site.workspace, name)
    reader = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    live = [found for found in reader.scan(shard, f"{shard}g") if found.merged_into is None]
    merged = merged_records(site, indexes)
    companies = tuple(_company(site, indexes, prospect, merged.get(prospect.company_hash, ())) for prospect in live)
    return WebCompanies(campaign=name, at=site.now(), shard=shard, companies=companies)


def make_company(site: DataSite, name: str, company_hash: str) -> WebCompany:
    """One company, as it is now. A hash that was merged leads to the one it was merged into."""
    indexes = campaign_indexes(site.workspace, name)
    prospect = find_company(indexes, company_hash)
    merged = merged_records(site, indexes).get(prospect.company_hash, ())
    return _company(site, indexes, prospect, merged)


def find_company(indexes: Indexes, company_hash: str) -> Prospect:
    reader: IndexReader[Prospect] = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    found = reader.get(company_hash) if _HASH.fullmatch(company_hash) else None
    seen: set[str] = set()
    while found is not None and found.merged_into and found.company_hash not in seen:
        seen.add(found.company_hash)
        found = reader.get(found.merged_into)
    if found is None:
        raise NotFound(key=f"company {company_hash}", hint=f"See them with: cocli company ls{indexes.options}")
    return found


def merged_records(site: DataSite, indexes: Indexes) -> dict[str, tuple[Prospect, ...]]:
    """Company → the records that became part of it."""
    name = needed_campaign(indexes).name
    pointers = site.remember(("merged", name), lambda: _pointers(indexes))
    reader = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    records = reader.get_many([company for company, _ in pointers])
    found: dict[str, list[Prospect]] = {}
    for company, target in pointers:
        if company in records:
            found.setdefault(target, []).append(records[company])
    return {company: tuple(parts) for company, parts in found.items()}


def _pointers(indexes: Indexes) -> list[tuple[str, str]]:
    with opened_query(indexes, _POINTERS, QueryOptions(fresh=True)) as query:
        return [(str(company), str(target)) for company, target in query.result().rows()]


# --- one company


def _company(site: DataSite, indexes: Indexes, prospect: Prospect, merged: Iterable[Prospect]) -> WebCompany:
    store, campaign = indexes.store, needed_campaign(indexes)
    known = _Known(prospect, tuple(merged), page_about(store, prospect))
    page = known.page
    written = written_texts(page.company) if page else {}
    slug = page.slug if page else prospect.slug
    noted = list(notes(store, page.slug)) if page else []
    met = list(meetings(store, page.slug)) if page else []
    rule = exclusion_of(
        exclusions_of(campaign),
        name=written.get("name", prospect.name),
        place_id=prospect.place_id,
        domain=prospect.domain,
        website=prospect.website,
    )
    return WebCompany(
        company_hash=prospect.company_hash,
        slug=slug,
        name=written.get("name", prospect.name),
        etag=page.stored.etag if page else None,
        page_key=page.key if page else None,
        facts=tuple(_facts(prospect, written)),
        written=_written(page, written),
        tags=tuple(dict.fromkeys([*(page.tags if page else ()), *prospect.tags])),
        body=page.body if page else "",
        excluded=str(rule) if rule else None,
        people=tuple(_people(site, indexes, known)),
        notes=tuple(map(_note, noted)),
        meetings=tuple(map(_note, met)),
        timeline=tuple(_timeline(known, noted, met)),
        merged=tuple(_merged(record, known.prospect) for record in known.merged),
        lat=prospect.lat,
        lon=prospect.lon,
        problem=page.problem if page else None,
        command=f"cocli company show {slug}{indexes.options}",
    )


def _written(page: CompanyPage | None, texts: dict[str, str]) -> dict[str, str]:
    """Every key of a person's own that is one text, also those that stand before nothing."""
    own = person_values(page) if page else {}
    plain = {key: str(value) for key, value in own.items() if isinstance(value, (str, int, float)) and key != "tags"}
    return plain | texts


# --- facts


def _facts(prospect: Prospect, written: dict[str, str]) -> Iterator[WebFact]:
    before = {field: written[key] for key, fields in COVERED.items() if key in written for field in fields}
    for name in field_names(prospect):
        if name in _UNSHOWN or name.partition(".")[0] in _UNSHOWN:
            continue
        is_address = "@" in name
        if name == "all_emails" or name == prospect.primary_email:
            continue  # each address has a line of its own, the first choice as `primary_email`
        value = name if is_address else value_of(prospect, name)
        origin = prospect.origin_of("primary_email" if name == prospect.primary_email else name)
        yield WebFact(
            field=name,
            label="e-mail" if is_address else _LABELS.get(name, name.replace("_", " ")),
            value=plain_value(value),
            text=_text(name, value),
            link=_link(name, value),
            source=origin.source if origin else None,
            observed_at=origin.observed_at if origin else None,
            document=origin.document if origin else None,
            written=before.get(name),
        )


def plain_value(value: Any) -> JsonValue:
    if isinstance(value, (tuple, list)):
        return [plain_value(item) for item in value]
    if hasattr(value, "model_dump"):
        dumped: JsonValue = value.model_dump(mode="json")
        return dumped
    if isinstance(value, dict):
        return {str(key): plain_value(item) for key, item in value.items()}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


def _text(name: str, value: Any) -> str:
    if name == "phone_e164":
        return international_phone(value)
    if name == "hours":
        return "; ".join(" ".join(str(part) for part in hours.model_dump(mode="json").values()) for hours in value)
    if isinstance(value, (tuple, list)):
        return ", ".join(map(str, value))
    return str(value)


def _link(name: str, value: Any) -> str | None:
    if name == "phone_e164":
        return f"tel:{value}"
    if "@" in name or name == "primary_email":
        return mail_address(str(value))
    if name == "website" or name.startswith("socials."):
        return web_address(str(value))
    return None


# --- people, notes, timeline


def _people(site: DataSite, indexes: Indexes, known: _Known) -> Iterator[WebContact]:
    for member in known.prospect.people:
        yield WebContact(
            name=member.name, role=member.role, email=member.email, phone=member.phone, told_by="website", key=None
        )
    if known.page is None:
        return
    page = known.page
    wanted = {name.casefold() for name in (page.slug, page.title, *former_slugs(indexes.store, page))}
    for person in site.remember(("people",), lambda: list(people(indexes.store))):
        if (person.company or "").casefold() not in wanted:
            continue
        record = person.person
        yield WebContact(
            name=person.title,
            role=record.role if record else None,
            email=record.email if record else None,
            phone=record.phone if record else None,
            told_by="page",
            key=person.stored.key,
        )


def _note(entry: CompanyEntry[Note] | CompanyEntry[Meeting]) -> WebNote:
    record = entry.record
    return WebNote(
        name=entry.name,
        title=record.title if record else None,
        date=str(record.date) if record and record.date is not None else None,
        text=entry.body,
        tags=record.tags if record else (),
        place=getattr(record, "place", None),
        attendees=getattr(record, "attendees", ()),
        etag=entry.etag,
        problem=entry.problem,
    )


def _timeline(known: _Known, noted: list[CompanyEntry[Note]], met: list[CompanyEntry[Meeting]]) -> list[WebMoment]:
    prospect = known.prospect
    sources = ", ".join(prospect.sources)
    moments = [(prospect.first_seen.isoformat(), "first-seen", f"first seen, in {sources}")]
    seen = {(origin.observed_at.isoformat(), origin.source): len(origin.fields) for origin in prospect.origins}
    moments += [
        (at, "visited" if source == "website" else "observed", f"{source} told {_values(count)}")
        for (at, source), count in seen.items()
    ]
    for record in known.merged:
        pointer = record.origin_of("merged_into")
        why = pointer.reason if pointer else None
        text = f"{record.name} became part of it" + (f": {why}" if why else "")
        moments.append((record.updated_at.isoformat(), "merged", text))
    for kind, entries in (("note", noted), ("meeting", met)):
        for entry in entries:
            titled = (entry.record.title if entry.record else None) or entry.name
            at = str(entry.record.date) if entry.record and entry.record.date is not None else entry.name[:10]
            moments.append((at, kind, titled))
    ordered = sorted(moments, reverse=True)
    return [WebMoment(at=at.replace("+00:00", "Z"), kind=kind, text=text) for at, kind, text in ordered]


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"


def _merged(record: Prospect, whole: Prospect) -> WebMergedRecord:
    return WebMergedRecord(
        company_hash=record.company_hash,
        name=record.name,
        sources=record.sources,
        first_seen=record.first_seen,
        split_command=f"cocli company split {whole.company_hash} {record.company_hash} -c {whole.campaign}",
    )
