"""Finding a company or a prospect by a few letters: what is searched, and what was found.

Prospects come from the current version of each campaign's index, companies from their Markdown files. Both are
searched in a derived copy that is made anew when the version moves, or a file has changed.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.name import campaign_names
from cocli.app.companies.companies import exclusions_of
from cocli.app.indexes.indexes import Indexes, campaign_indexes, needed_campaign
from cocli.app.search.copy import (
    COMPANY,
    ENDING,
    SearchCopy,
    SearchEntry,
    SearchPart,
    corrected,
    read_entry,
    read_part,
    without_excluded,
    write_part,
)
from cocli.app.workspace import Progress, no_progress
from cocli.errors import IndexProblem, StoreError
from cocli.index.queries.derived import DerivedFolder
from cocli.index.queries.names import manifest_name
from cocli.index.versions import version
from cocli.keys.paths import CompanyKey
from cocli.models.campaign import ExcludeSection
from cocli.pipeline.exclusions import Exclusions, exclusion_of
from cocli.results.companies.pages import read_page
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.workspace import Workspace
    from cocli.store.base import ObjectInfo, Store

_COMPANIES = "companies/"
_LOT = 500
_PROSPECTS = """
SELECT company_hash, name, city, region, domain, coalesce(phone_e164, phone), primary_email, slug, website, place_id
FROM prospects ORDER BY name, company_hash
"""


@dataclass
class Search:
    """What can be searched. `problems` are campaigns that had to be left out."""

    copy: SearchCopy
    companies: Store
    """Where the files of the companies are."""
    unpacked: list[str] = field(default_factory=list)
    """Campaigns whose prospects were never packed."""
    problems: list[str] = field(default_factory=list)


def open_search(workspace: Workspace, campaign: str | None, progress: Progress = no_progress) -> Search:
    """Companies, and the prospects of one campaign or of all.

    A company's page is shared by campaigns, exclusions belong to one: what the campaign excludes that was named is not
    searched; where none was, it is, and whoever shows it says where it is excluded.
    """
    parts: list[SearchPart] = []
    indexes = campaign_indexes(workspace, campaign)
    search = Search(SearchCopy(()), indexes.store)
    names = [campaign] if campaign else sorted(campaign_names(workspace.store))
    exclusions: dict[str, Exclusions] = {}
    for name in names:
        try:
            of_campaign = campaign_indexes(workspace, name)
            exclusions[name] = exclusions_of(needed_campaign(of_campaign))
            part = prospects_part(of_campaign)
        except (IndexProblem, StoreError) as error:
            if campaign:
                raise
            search.problems.append(f"{name}: {error.message}")  # the others are worth searching all the same
            continue
        if part is None:
            search.unpacked.append(name)
        else:
            parts.append(part)
    companies = companies_part(indexes, progress)
    found = [corrected(part, companies) for part in parts]
    if campaign:
        companies = without_excluded(companies, exclusions[campaign])
    search.copy = SearchCopy([*found, companies], exclusions)
    return search


def consolidate_search(indexes: Indexes) -> int:
    """Make the copies current; returns how many lines there are to search."""
    prospects = None
    if indexes.campaign is not None:
        prospects = prospects_part(indexes)
    return len(companies_part(indexes).lines) + (len(prospects.lines) if prospects else 0)


# --- prospects


def prospects_part(indexes: Indexes) -> SearchPart | None:
    """The prospects of a campaign without those that are excluded; None if none were ever packed."""
    ref = indexes.ref("prospects")
    manifest = version(indexes.open(ref))
    if not manifest.version:
        return None
    exclusions = exclusions_of(needed_campaign(indexes))
    copies, name = indexes.copies(ref), manifest_name(manifest)
    if exclusions:
        name = f"{name}-{exclusions.digest}"
    found = copies.find(name, ENDING)
    part = read_part(found) if found else None
    return part or write_part(copies, name, _prospects(indexes, manifest.version, exclusions))


def _prospects(indexes: Indexes, number: int, exclusions: Exclusions) -> Iterator[tuple[SearchEntry, str]]:
    from cocli.app.indexes.query import AsOf, QueryOptions, opened_query  # here: a current copy needs no DuckDB

    owner = indexes.campaign.name if indexes.campaign else ""
    with opened_query(indexes, _PROSPECTS, QueryOptions(as_of=AsOf(number=number))) as query:
        for company, name, city, region, domain, phone, email, slug, website, place in query.result().rows():
            if exclusion_of(exclusions, name=name, place_id=place, domain=domain, website=website):
                continue
            detail = " · ".join(filter(None, (city, domain, phone, email)))
            yield SearchEntry("prospect", company, owner, name or slug, detail, ""), f"{region or ''} {slug} {company}"


# --- companies


def companies_part(indexes: Indexes, progress: Progress = no_progress) -> SearchPart:
    """The companies of a store. Only files that have changed since the last time are read."""
    copies = DerivedFolder(os.path.join(indexes.cache, "derived", "companies"))
    infos = [info for info in indexes.store.list(_COMPANIES) if CompanyKey.fits(info.key)]
    name = hashlib.sha256("\n".join(f"{info.key} {_stamp(info)}" for info in infos).encode()).hexdigest()
    found = copies.find(name, ENDING)
    part = read_part(found) if found else None
    if part is not None:
        return _shown(part, indexes)
    known = _known(copies)
    entries = list(_companies(indexes.store, infos, known, progress))
    in_order = sorted(entries, key=lambda entry: (entry[0].title.casefold(), entry[0].id))
    return _shown(write_part(copies, name, in_order), indexes)


def _shown(part: SearchPart, indexes: Indexes) -> SearchPart:
    """The companies without those who want to be left alone. The copy itself holds what the pages say."""
    veil = indexes.left_alone.veil()
    if veil is None:
        return part
    wanted = without_excluded(part, Exclusions.of(ExcludeSection(), indexes.left_alone.listed))
    folded = [(veil.scrubber.text(title), veil.scrubber.text(rest)) for title, rest in wanted.folded]
    return SearchPart([veil.scrubber.text(line) for line in wanted.lines], folded)


def _known(copies: DerivedFolder) -> dict[tuple[str, str], tuple[SearchEntry, str]]:
    """Entries of an earlier copy, by key and stamp."""
    known: dict[tuple[str, str], tuple[SearchEntry, str]] = {}
    for path in copies.paths(ENDING):
        part = read_part(path)
        for line, (_, rest) in zip(part.lines, part.folded, strict=True) if part else ():
            entry = read_entry(line)
            known[entry.key, entry.stamp] = (entry, rest)
    return known


def _companies(
    store: Store, infos: Iterable[ObjectInfo], known: dict[tuple[str, str], tuple[SearchEntry, str]], progress: Progress
) -> Iterator[tuple[SearchEntry, str]]:
    changed: list[ObjectInfo] = []
    for info in infos:
        entry = known.get((info.key, _stamp(info)))
        if entry is not None:
            yield entry
        else:
            changed.append(info)
    remaining, done = iter(changed), 0
    while lot := list(islice(remaining, _LOT)):
        for info, answer in zip(lot, store.get_many([info.key for info in lot]), strict=True):
            if isinstance(answer, StoredObject):  # one that is gone meanwhile is no company any more
                yield from _company(info, answer)
        done += len(lot)
        progress(done)


def _company(info: ObjectInfo, stored: StoredObject) -> Iterator[tuple[SearchEntry, str]]:
    """A company, as a person knows it; none for the file of a page that went away."""
    page = read_page(stored)
    facts = page.facts
    if page.is_former:
        return
    written = page.written
    found_emails = facts.emails if facts else ()
    website = written.get("website") or (facts.domain if facts else None)
    phone = written.get("phone") or (facts.any_phone if facts else None)
    email = written.get("email") or next(iter(found_emails), None)
    detail = " · ".join(filter(None, (written.get("city"), website, phone, email, *page.tags)))
    former = (facts.formerly if facts else None) or ()
    more = " ".join(filter(None, (page.slug, written.get("status"), written.get("address"), *found_emails, *former)))
    stands_for = " ".join(page.hashes) if set(written) - {"status"} else ""
    marks = {"place_id": (facts and facts.place_id) or "", "domain": (facts and facts.domain) or ""}
    shown = (COMPANY, page.slug, "", page.title, detail, info.key, _stamp(info))
    yield SearchEntry(*shown, **marks, stands_for=stands_for), more


def _stamp(info: ObjectInfo) -> str:
    return f"{info.size} {info.modified.isoformat()}"


def record_of(workspace: Workspace, entry: SearchEntry) -> Any:
    """The prospect behind an entry."""
    from cocli.app.indexes.lookup import look_up
    from cocli.app.indexes.query import AsOf

    indexes = campaign_indexes(workspace, entry.campaign)
    return look_up(indexes, indexes.ref("prospects"), entry.id, fresh=False, as_of=AsOf())[0]
