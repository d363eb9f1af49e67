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
from cocli.app.indexes.indexes import Indexes, campaign_indexes
from cocli.app.search.copy import ENDING, SearchCopy, SearchEntry, SearchPart, read_entry, read_part, write_part
from cocli.app.workspace import Progress, no_progress
from cocli.errors import FormatError, IndexProblem, StoreError
from cocli.formats import markdown
from cocli.index.queries.derived import DerivedFolder
from cocli.index.queries.names import manifest_name
from cocli.index.versions import version
from cocli.keys.paths import CompanyKey
from cocli.models.company import Company
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.workspace import Workspace
    from cocli.store.base import ObjectInfo, Store

_COMPANIES = "companies/"
_LOT = 500
_PROSPECTS = """
SELECT company_hash, name, city, region, domain, phone_e164, primary_email, slug
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
    """Companies, and the prospects of one campaign or of all."""
    parts: list[SearchPart] = []
    indexes = campaign_indexes(workspace, campaign)
    search = Search(SearchCopy(()), indexes.store)
    names = [campaign] if campaign else sorted(campaign_names(workspace.store))
    for name in names:
        try:
            part = prospects_part(campaign_indexes(workspace, name))
        except (IndexProblem, StoreError) as error:
            if campaign:
                raise
            search.problems.append(f"{name}: {error.message}")  # the others are worth searching all the same
            continue
        if part is None:
            search.unpacked.append(name)
        else:
            parts.append(part)
    parts.append(companies_part(indexes, progress))
    search.copy = SearchCopy(parts)
    return search


def consolidate_search(indexes: Indexes) -> int:
    """Make the copies current; returns how many lines there are to search."""
    prospects = None
    if indexes.campaign is not None:
        prospects = prospects_part(indexes)
    return len(companies_part(indexes).lines) + (len(prospects.lines) if prospects else 0)


# --- prospects


def prospects_part(indexes: Indexes) -> SearchPart | None:
    """The prospects of a campaign; None if none were ever packed."""
    ref = indexes.ref("prospects")
    manifest = version(indexes.open(ref))
    if not manifest.version:
        return None
    copies, name = indexes.copies(ref), manifest_name(manifest)
    found = copies.find(name, ENDING)
    part = read_part(found) if found else None
    return part or write_part(copies, name, _prospects(indexes, manifest.version))


def _prospects(indexes: Indexes, number: int) -> Iterator[tuple[SearchEntry, str]]:
    from cocli.app.indexes.query import AsOf, QueryOptions, opened_query  # here: a current copy needs no DuckDB

    owner = indexes.campaign.name if indexes.campaign else ""
    with opened_query(indexes, _PROSPECTS, QueryOptions(as_of=AsOf(number=number))) as query:
        for company, name, city, region, domain, phone, email, slug in query.result().rows():
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
        return part
    known = _known(copies)
    entries = list(_companies(indexes.store, infos, known, progress))
    return write_part(copies, name, sorted(entries, key=lambda entry: (entry[0].title.casefold(), entry[0].id)))


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
                yield _company(info, answer)
        done += len(lot)
        progress(done)


def _company(info: ObjectInfo, stored: StoredObject) -> tuple[SearchEntry, str]:
    slug = str(CompanyKey.parse(info.key).slug)
    try:
        company = markdown.read(Company, stored.data, file=info.key)
    except FormatError:  # a person's file need not be in order to be found by its name
        return SearchEntry("company", slug, "", slug, "", info.key, _stamp(info)), slug
    title, website, phone, email = company.name, company.website, company.phone, company.email
    emails: tuple[str, ...] = ()
    if (facts := company.cocli) is not None:  # what a person wrote comes first
        emails = facts.emails
        title, website, phone = title or facts.name, website or facts.domain, phone or facts.phone_e164
        email = email or next(iter(emails), None)
    detail = " · ".join(filter(None, (website, phone, email, *company.tags)))
    more = " ".join(filter(None, (slug, company.status, *emails)))
    return SearchEntry("company", slug, "", title or slug, detail, info.key, _stamp(info)), more


def _stamp(info: ObjectInfo) -> str:
    return f"{info.size} {info.modified.isoformat()}"


def record_of(workspace: Workspace, entry: SearchEntry) -> Any:
    """The prospect behind an entry."""
    from cocli.app.indexes.lookup import look_up
    from cocli.app.indexes.query import AsOf

    indexes = campaign_indexes(workspace, entry.campaign)
    return look_up(indexes, indexes.ref("prospects"), entry.id, fresh=False, as_of=AsOf())[0]
