"""Promotion: the records of a campaign are made from the states of an edition, and its workers live by that edition.

The order makes it safe to be killed anywhere: a file says what is under way; the former records are put away; then
the indexes are replaced, each at once; then the campaign's configuration names the edition. Whoever promotes the same
edition again goes on. The former edition comes back in the same way, exactly as it was while nothing of it changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.campaign import edit_campaign
from cocli.app.documents.documents import opened_documents
from cocli.app.documents.editions import KINDS, CampaignEditions, spoken_for
from cocli.app.goal.crew import working_hosts
from cocli.app.indexes.indexes import campaign_indexes
from cocli.config.edit import ConfigChange, Operator
from cocli.config.resolve import Rank
from cocli.documents.ids import check_parts
from cocli.errors import Conflict, NotFound, UsageError
from cocli.formats import json_records
from cocli.index.compaction import Compactor
from cocli.index.reader import open_reader
from cocli.index.replacement import replace_records
from cocli.keys.paths import LatestKey
from cocli.pipeline.editions.promotion import KeptEdition, Promotion
from cocli.pipeline.editions.records import CampaignRecords, make_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cocli.app.workspace import Workspace
    from cocli.index.spec import IndexSpec
    from cocli.models.domain import Domain

_FILE = "promotion.json"
_TRIES = 5


@dataclass(frozen=True, slots=True)
class PromotionOptions:
    dry_run: bool = False
    force: bool = False
    """Also while workers run, which write under the former edition until they are started again."""


@dataclass(slots=True)
class RecordChanges:
    """Of one index: how many records there were and are, and how many came, went and changed."""

    before: int
    after: int
    added: int
    removed: int
    changed: int


@dataclass(slots=True)
class Promoted:
    edition: str
    former: str
    restored: bool
    """Whether the records are those that were put away when the campaign left this edition."""
    states_read: int
    dry_run: bool
    changes: dict[str, RecordChanges] = field(default_factory=dict)


def promote(
    workspace: Workspace, name: str, edition: str, options: PromotionOptions, say: Callable[[str], object]
) -> Promoted:
    """Make the records of a campaign from an edition. Killed anywhere, the same call again goes on."""
    check_parts(cluster=edition)
    with opened_documents(workspace, name) as documents:
        editions = CampaignEditions(documents, campaign_indexes(workspace, name))
        return _Promoter(workspace, editions, edition, options, say).run()


class _Promoter:
    def __init__(
        self,
        workspace: Workspace,
        editions: CampaignEditions,
        edition: str,
        options: PromotionOptions,
        say: Callable[[str], object],
    ) -> None:
        self._workspace = workspace
        self._editions = editions
        self._edition = edition
        self._options = options
        self._say = say
        self._states = editions.states(edition)
        self._documents = editions.documents

    def run(self) -> Promoted:
        self._refuse()
        promotion, etag = self._begun()
        if self._options.dry_run:
            known = self._editions.known()
            return self._report(promotion, known, *self._wanted(promotion, known))
        if etag is None:
            etag = self._write(promotion, None)
        if not promotion.kept:
            self._say("putting the former records away")
            promotion, etag = self._put_away(promotion, etag)
        known = self._editions.kept_records(promotion.former)
        wanted, restored = self._wanted(promotion, known)
        for kind in KINDS:
            self._say(f"writing {kind}")
            self._replace(kind, getattr(known, kind), getattr(wanted, kind))
        if self._documents.edition != self._edition:
            change = ConfigChange(("documents", "edition"), Operator.SET, self._edition)
            edit_campaign(self._workspace, promotion.campaign, [change])
        self._write(promotion.with_changes(finished_at=self._documents.store.now()), etag)
        return self._report(promotion, known, wanted, restored)

    # --- whether it may be

    def _refuse(self) -> None:
        missing, options = self._states.missing(), self._documents.options
        if missing:
            raise UsageError(
                reason=f"{len(missing)} documents have no state in the edition {self._edition}, such as {missing[0]}",
                hint=f"Make them with: cocli documents replay --edition {self._edition}{options} "
                "(and the --graph that the edition was made with)",
            )
        origin = self._editions.campaign.settings.values["documents", "edition"].origin
        if origin.rank > Rank.CAMPAIGN:
            raise UsageError(reason=f"{origin} says which edition the campaign lives by", hint=f"Unset {origin} first.")
        hosts = working_hosts(self._editions.campaign)
        if hosts and not (self._options.force or self._options.dry_run):
            raise UsageError(
                reason=f"Workers of this campaign run on {', '.join(hosts)}: they would go on writing under the former "
                "edition",
                hint="Stop them first and start them again afterwards, or say --force.",
            )

    def _begun(self) -> tuple[Promotion, str | None]:
        """The promotion that is under way, or a new one."""
        name, now = self._editions.campaign.name, self._documents.store.now()
        former = self._documents.edition
        fresh = Promotion(campaign=name, edition=self._edition, former=former, started_at=now)
        try:
            stored = self._documents.store.get(self._editions.key(_FILE))
        except NotFound:
            return fresh, None
        there = json_records.read(Promotion, stored.data, file="the promotion")
        if there.finished_at is not None:
            return fresh, stored.etag if self._options.dry_run else self._write(fresh, stored.etag)
        if there.edition != self._edition:
            raise UsageError(
                reason=f"A promotion of {there.edition} is under way, since {there.started_at:%Y-%m-%d %H:%M}Z",
                hint=f"End it first: cocli documents promote {there.edition}{self._documents.options}",
            )
        return there, stored.etag

    def _write(self, promotion: Promotion, etag: str | None) -> str:
        store, key = self._documents.store, self._editions.key(_FILE)
        data = json_records.render(promotion)
        if etag is None:
            return store.put(key, data, if_absent=True)
        return store.put(key, data, if_match=etag)

    # --- the records

    def _put_away(self, promotion: Promotion, etag: str) -> tuple[Promotion, str]:
        editions = self._editions
        for kind in KINDS:
            Compactor(editions.index(kind)).compact()
        kept = KeptEdition(
            campaign=promotion.campaign,
            edition=promotion.former,
            fingerprint=editions.fingerprint(editions.states(promotion.former)),
            kept_at=self._documents.store.now(),
        )
        editions.put_away(promotion.former, editions.known(), kept)
        promotion = promotion.with_changes(kept=True)
        return promotion, self._write(promotion, etag)

    def _wanted(self, promotion: Promotion, known: CampaignRecords) -> tuple[CampaignRecords, bool]:
        """What the records shall be, and whether that was put away."""
        kept = self._editions.kept(self._edition) if promotion.edition != promotion.former else None
        if kept is not None and kept.fingerprint == self._editions.fingerprint(self._states):
            records = self._editions.kept_records(self._edition)
            if spoken_for(records) == spoken_for(known):
                return records, True
        self._say("making records from the states")
        return make_records(self._states, self._editions.view(known, promotion.started_at)), False

    def _replace(self, kind: str, known: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        """Say exactly what is wanted. What somebody else wrote since the records were put away is not lost by it."""
        index = self._editions.index(kind)
        for _ in range(_TRIES):
            there = open_reader(index)
            found = {index.spec.key_of(record): record for record in there.scan()}
            records, gone = _difference(index.spec, found, known, wanted, shared=kind == "domains")
            if replace_records(index, there.version, records, gone):
                return
        raise Conflict(key=str(LatestKey(index.ref)))

    def _report(
        self, promotion: Promotion, known: CampaignRecords, wanted: CampaignRecords, restored: bool
    ) -> Promoted:
        report = Promoted(self._edition, promotion.former, restored, self._states.read, self._options.dry_run)
        for kind in KINDS:
            before, after = getattr(known, kind), getattr(wanted, kind)
            kept = before.keys() & after.keys()
            report.changes[kind] = RecordChanges(
                before=len(before),
                after=len(after) if kind != "domains" else len({*before, *after}),
                added=len(after.keys() - before.keys()),
                removed=0 if kind == "domains" else len(before.keys() - after.keys()),
                changed=sum(before[key] != after[key] for key in kept),
            )
        return report


def _difference(
    spec: IndexSpec[Any], there: Mapping[str, Any], known: Mapping[str, Any], wanted: Mapping[str, Any], *, shared: bool
) -> tuple[dict[str, Any], set[str]]:
    """The records to say, and the keys to remove. A shared index loses no record, only who owns it."""
    records = dict(wanted)
    gone: set[str] = set()
    for key, record in there.items():
        is_ours = record in (known.get(key), wanted.get(key))
        if key in wanted and not is_ours:
            records[key] = spec.merge(record, wanted[key])
        elif key not in wanted and is_ours and shared:
            records[key] = _disowned(record)
        elif key not in wanted and is_ours:
            gone.add(key)
    return records, gone


def _disowned(domain: Domain) -> Domain:
    """The domain of a business that is none any more."""
    kept = [origin.model_copy(update={"fields": _without_owner(origin.fields)}) for origin in domain.origins]
    return domain.with_changes(company_hash=None, origins=tuple(origin for origin in kept if origin.fields))


def _without_owner(fields: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in fields if name != "company_hash")
