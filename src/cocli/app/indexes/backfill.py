"""Filling indexes from what others know: the e-mail addresses and domains of prospects, where they have no record yet.

For data that was written before an index existed, or that was brought in by another way than the pipeline. A record
that is there is never touched; a new one names the observation that the prospect has the value from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from cocli.app.workspace import Progress, no_progress
from cocli.errors import IdentityError, RecordError
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import registrable_domain
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.origin import Origin
from cocli.pipeline.merge.rules import UNKNOWN
from cocli.pipeline.websites.hosts.shared import own_domain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.indexes.indexes import Indexes
    from cocli.index.index import Index
    from cocli.models.prospect import Prospect

_LOT = 2000
Maker = Callable[[], Any]
"""Makes one record, or says why it cannot."""


@dataclass
class Backfill:
    """What is missing, or what was written. `rejected` are values that no record can hold."""

    prospects: int = 0
    emails: int = 0
    domains: int = 0
    rejected: list[str] = field(default_factory=list)


def backfill(indexes: Indexes, *, dry_run: bool, progress: Progress = no_progress) -> Backfill:
    """Write a record for every address and own domain of a prospect that has none; they wait to be packed."""
    done = Backfill()
    emails = _Filler(indexes.open(indexes.ref("emails")), dry_run=dry_run)
    domains = _Filler(indexes.open(indexes.ref("domains")), dry_run=dry_run)
    prospects = open_reader(indexes.open(indexes.ref("prospects")), fresh=True).scan()
    while lot := list(islice(prospects, _LOT)):
        done.prospects += len(lot)
        current = [prospect for prospect in lot if prospect.merged_into is None]
        done.emails += emails.fill(_records(current, _emails, done.rejected))
        done.domains += domains.fill(_records(current, _domains, done.rejected))
        progress(done.prospects)
    return done


class _Filler:
    """Appends those records of a lot that an index does not have, packed or waiting."""

    def __init__(self, index: Index[Any], *, dry_run: bool) -> None:
        self._index = index
        self._dry_run = dry_run
        self._reader = open_reader(index, fresh=True)
        self._seen: set[str] = set()

    def fill(self, records: Iterable[Any]) -> int:
        by_key: dict[str, Any] = {}
        for record in records:
            key = self._index.spec.key_of(record)
            if key not in self._seen:
                by_key[key] = self._index.spec.merge(by_key[key], record) if key in by_key else record
        there = self._reader.get_many(by_key)
        missing = [record for key, record in by_key.items() if key not in there]
        self._seen.update(by_key)
        if missing and not self._dry_run:
            IndexWriter(self._index).append(missing)
        return len(missing)


def _records(
    prospects: Iterable[Prospect], make: Callable[[Prospect], Iterator[Maker]], rejected: list[str]
) -> Iterator[Any]:
    """What can be made of the prospects. One value that no record can hold does not stop the others."""
    for prospect in prospects:
        for make_record in make(prospect):
            try:
                yield make_record()
            except (RecordError, IdentityError) as error:
                rejected.append(f"{prospect.company_hash}: {error.message}")


def _emails(prospect: Prospect) -> Iterator[Maker]:
    addresses = dict.fromkeys((*((prospect.primary_email,) if prospect.primary_email else ()), *prospect.all_emails))
    return (partial(_email, prospect, address) for address in addresses)


def _email(prospect: Prospect, address: str) -> EmailEntry:
    values = {"domain": registrable_domain(address.rsplit("@", 1)[-1]), "company_hash": prospect.company_hash}
    seen = {"first_seen": prospect.first_seen, "last_seen": prospect.updated_at}
    return EmailEntry.checked(
        {"email": address, "origins": (_origin(prospect, "primary_email", tuple(values)),), **seen, **values}
    )


def _domains(prospect: Prospect) -> Iterator[Maker]:
    domain = own_domain(prospect.domain or prospect.website)
    if domain:
        yield partial(_domain, prospect, domain)


def _domain(prospect: Prospect, domain: str) -> Domain:
    origins = (_origin(prospect, "domain", ("company_hash",)),)
    return Domain.checked({"domain": domain, "company_hash": prospect.company_hash, "origins": origins})


def _origin(prospect: Prospect, field_name: str, fields: tuple[str, ...]) -> Origin:
    known = prospect.origin_of(field_name)
    if known is not None:
        return known.model_copy(update={"fields": tuple(sorted(fields))})
    return Origin(fields=fields, source=UNKNOWN, observed_at=prospect.updated_at, reason="filled in from the prospect")
