"""Derived copies, made anew: Parquet for queries, the lines of `find`, and `domains_master.csv` for people."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.app.indexes.query import QueryOptions, opened_query
from cocli.app.indexes.values import csv_cell
from cocli.app.search.search import consolidate_search
from cocli.app.workspace import Progress, location, no_progress
from cocli.index.cache import FolderCache
from cocli.index.queries.layers import shard_rows
from cocli.index.queries.names import manifest_name
from cocli.index.reader import open_reader
from cocli.index.versions import history
from cocli.keys.paths import ExportKey, ManifestKey

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes
    from cocli.index.manifest import Manifest
    from cocli.keys.paths import IndexRef

DOMAINS_FILE = "domains_master.csv"
_DOMAINS = """
SELECT d.domain, d.status, d.company_hash, p.name AS company, p.city, p.region, p.country, p.phone_e164 AS phone,
       p.primary_email, d.is_email_provider, d.mx, d.ip, d.last_crawled, d.scraper_version, d.next_check
FROM domains AS d LEFT JOIN prospects AS p USING (company_hash)
ORDER BY d.domain
"""


@dataclass
class Copy:
    """One derived copy. `status`: built, or already_current."""

    index: str
    version: int
    rows: int
    path: str
    status: str


@dataclass
class Consolidated:
    copies: list[Copy] = field(default_factory=list)
    searched: int = 0
    """Lines that `find` searches now."""
    domains: int = 0
    domains_path: str | None = None
    freed_bytes: int = 0
    """Cached shards of versions that are not kept any more."""


def consolidate(
    indexes: Indexes, refs: list[IndexRef], *, rebuild: bool = False, progress: Progress = no_progress
) -> Consolidated:
    """Make every copy current; with `rebuild` also those that are."""
    done = Consolidated()
    for number, ref in enumerate(refs, start=1):
        copy = _copy(indexes, ref, rebuild=rebuild)
        if copy is not None:
            done.copies.append(copy)
            done.freed_bytes += _forget_old_shards(indexes, ref)
        progress(number)
    done.searched = consolidate_search(indexes)
    asked = {ref.name for ref in refs}
    if indexes.campaign is not None and "prospects" in asked and any(copy.index == "domains" for copy in done.copies):
        done.domains, done.domains_path = _write_domains(indexes, indexes.campaign.name)
    return done


def _copy(indexes: Indexes, ref: IndexRef, *, rebuild: bool) -> Copy | None:
    index, copies = indexes.open(ref), indexes.copies(ref)
    reader = open_reader(index)
    if not reader.version:
        return None
    name = manifest_name(reader.manifest)
    path = None if rebuild else copies.find(name)
    status = "built" if path is None else "already_current"
    path = path or copies.build(name, shard_rows(reader, index.spec.model))
    return Copy(ref.name, reader.version, reader.manifest.rows, path, status)


def _forget_old_shards(indexes: Indexes, ref: IndexRef) -> int:
    index = indexes.open(ref)
    kept: set[str] = set()
    for manifest in history(index):
        kept |= {f"{name}.usv" for name in manifest.names} | {_file(ref, manifest)}
    if isinstance(index.cache, FolderCache) and kept:
        return index.cache.prune(kept)
    return 0


def _write_domains(indexes: Indexes, campaign: str) -> tuple[int, str]:
    """`domains_master.csv`: every domain that is known, with the campaign's own prospect where there is one."""
    text = io.StringIO()
    writer = csv.writer(text)
    count = 0
    with opened_query(indexes, _DOMAINS, QueryOptions()) as query:
        result = query.result()
        writer.writerow([column.name for column in result.columns])
        for row in result.rows():
            writer.writerow([csv_cell(value) for value in row])
            count += 1
    key = str(ExportKey(campaign, DOMAINS_FILE))
    indexes.store.put(key, text.getvalue().encode())
    return count, location(indexes.store, key)


def _file(ref: IndexRef, manifest: Manifest) -> str:
    return str(ManifestKey(ref, manifest.version, manifest_name(manifest))).rsplit("/", 1)[-1]
