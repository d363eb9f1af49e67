"""Which prospect a person means: by hash, place id, page, domain, address, phone or name; and who else may be meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.indexes.query import QueryOptions, opened_query
from cocli.errors import NotFound, UsageError
from cocli.formats.usv_sql import quote_text
from cocli.index.reader import open_reader
from cocli.keys.identities import company_hash, company_identity, is_place_id
from cocli.results.companies.pages import page_about, page_of

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes
    from cocli.index.reader import IndexReader
    from cocli.models.prospect import Prospect
    from cocli.results.companies.pages import CompanyPage

_HASH = re.compile(r"[0-9a-f]{16}")
_MOST_MOVES = 10
_SHOWN = 5
_FOUND = """
SELECT company_hash, name, city, slug FROM prospects
WHERE slug = {text} OR lower(name) = lower({text}) OR domain = lower({text}) OR place_id = {text}
    OR phone_e164 = {text}
    OR primary_email = lower({text}) OR contains(all_emails::VARCHAR, '"' || lower({text}) || '"')
ORDER BY name, company_hash LIMIT 50
"""
_NEAR = """
SELECT company_hash, name, city, slug FROM (
    SELECT *, greatest(
        jaro_winkler_similarity(lower(name), lower({text})), jaro_winkler_similarity(slug, lower({text})),
        CASE WHEN contains(lower(name), lower({text})) OR contains(slug, lower({text})) THEN 1 ELSE 0 END
    ) AS likeness FROM prospects
) WHERE likeness > 0.8 ORDER BY likeness DESC, name, company_hash LIMIT {shown}
"""
_POINTERS = "SELECT company_hash, merged_into FROM prospects_all WHERE merged_into IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Meant:
    """A prospect, and the records that were merged into it."""

    prospect: Prospect
    asked: str | None
    """The hash under which it was asked for, where that is another one by now."""
    merged: tuple[Prospect, ...]
    page: CompanyPage | None = None
    """Its company's page."""


def find_prospect(indexes: Indexes, text: str) -> Meant:
    """The prospect that is meant; `NotFound` with the nearest ones, or the candidates if there are several."""
    reader: IndexReader[Prospect] = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    wanted = text.strip()
    page = page_of(indexes.store, wanted)
    named = _by_identity(reader, wanted) or _by_page(reader, page)
    if named is None:
        named, page = _by_words(indexes, reader, wanted), None
    prospect = _followed(reader, named)
    asked = None if prospect.company_hash == named.company_hash else named.company_hash
    hashes = _merged_into(indexes, prospect.company_hash)
    if page is None or prospect.company_hash not in page.hashes:
        page = page_about(indexes.store, prospect)
    return Meant(prospect, asked, tuple(reader.get_many(sorted(hashes)).values()), page)


def _by_identity(reader: IndexReader[Prospect], text: str) -> Prospect | None:
    if _HASH.fullmatch(text):
        return reader.get(text)
    if is_place_id(text):
        return reader.get(company_hash(company_identity(place=text)))
    return None


def _by_page(reader: IndexReader[Prospect], page: CompanyPage | None) -> Prospect | None:
    """The prospect of a page; a campaign may know the company under any of the page's hashes."""
    found = (reader.get(company) for company in (page.hashes if page else ()))
    return next((prospect for prospect in found if prospect is not None), None)


def _by_words(indexes: Indexes, reader: IndexReader[Prospect], text: str) -> Prospect:
    rows = _asked(indexes, _FOUND.format(text=quote_text(text)))
    if len(rows) > 1:
        raise UsageError(
            reason=f'"{text}" may be {len(rows)} prospects: {_shown(rows)}', hint="Name one by its hash, in brackets."
        )
    found = reader.get(rows[0][0]) if rows else None
    if found is None:
        near = _asked(indexes, _NEAR.format(text=quote_text(text), shown=_SHOWN)) if text else []
        hint = f"Did you mean: {_shown(near)}" if near else f"Find it by a few letters: cocli find{indexes.options}"
        raise NotFound(key=f'"{text}" among the prospects{indexes.options.replace(" -c", " of")}', hint=hint)
    return found


def _followed(reader: IndexReader[Prospect], prospect: Prospect) -> Prospect:
    for _ in range(_MOST_MOVES):
        moved = None
        if prospect.merged_into:
            moved = reader.get(prospect.merged_into)
        if moved is None:
            return prospect
        prospect = moved
    return prospect


def _merged_into(indexes: Indexes, wanted: str) -> set[str]:
    """All that point to a prospect, at first or second hand."""
    pointers = _asked(indexes, _POINTERS)
    found, before = {wanted}, set[str]()
    while found != before:
        before = set(found)
        found |= {name for name, target in pointers if target in found}
    return found - {wanted}


def _asked(indexes: Indexes, sql: str) -> list[tuple[Any, ...]]:
    with opened_query(indexes, sql, QueryOptions(fresh=True)) as query:
        return list(query.result().rows())


def _shown(rows: list[tuple[Any, ...]]) -> str:
    names = [f"{name or slug}{f', {city}' if city else ''} [{found}]" for found, name, city, slug in rows[:_SHOWN]]
    return "; ".join(names) + ("; …" if len(rows) > _SHOWN else "")
