"""What a rule is applied to, one class for each kind: `look` counts what would go, `remove` takes it away.

Nothing is remembered between the two runs of a program: whoever was killed is followed by one that looks again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from cocli.app.indexes.care import collect_garbage
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.queues.purge import carry_out, plan_purge
from cocli.app.queues.queues import ended_on_store, queue_names
from cocli.index.care.garbage import GRACE
from cocli.keys.paths import UpkeepKey, results_folder
from cocli.models.retention.age import moment_before
from cocli.models.retention.record import RemovedItem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.app.queues.listing import ListedState
    from cocli.app.queues.purge import Purge
    from cocli.app.queues.queues import QueueOnStore
    from cocli.app.workspace import Campaign, Progress, Workspace
    from cocli.index.care.garbage import CollectionReport
    from cocli.store.base import ObjectInfo

    Announce = Callable[[Sequence[RemovedItem]], None]
    """Writes down what goes, before it goes."""

_BATCH = 1000


@dataclass(slots=True)
class KindPlan:
    """What a rule would remove."""

    kind: str
    age: str
    count: int = 0
    bytes: int = 0
    kept: int = 0
    """Documents that stay because values name them."""
    values: int = 0
    """Values whose page these are: they lose it where somebody says so."""
    note: str | None = None


class RetainedKind(Protocol):
    name: str

    def look(self, progress: Progress) -> KindPlan: ...

    def remove(self, announce: Announce, progress: Progress) -> int:
        """What `look` found; how many things went."""
        ...


@dataclass(slots=True)
class FileKind:
    """Files below a folder of the campaign, by when they were written."""

    name: str
    age: str
    campaign: Campaign
    folder: str
    spared: tuple[str, ...] = ()
    """Beginnings of keys that belong to others."""
    _found: list[ObjectInfo] = field(default_factory=list)

    def look(self, progress: Progress) -> KindPlan:
        store = self.campaign.store
        before = moment_before(store.now(), self.age)
        listed = store.list(self.folder)
        self._found = [info for info in listed if info.modified < before and not info.key.startswith(self.spared)]
        progress(len(self._found))
        return KindPlan(self.name, self.age, len(self._found), sum(info.size for info in self._found))

    def remove(self, announce: Announce, progress: Progress) -> int:
        done = 0
        for start in range(0, len(self._found), _BATCH):
            batch = self._found[start : start + _BATCH]
            announce([RemovedItem(name=info.key, digest=info.etag, size=info.size) for info in batch])
            for failure in self.campaign.store.delete_many([info.key for info in batch]):
                if failure is not None:
                    raise failure
            done += len(batch)
            progress(done)
        return done


def export_files(campaign: Campaign, age: str) -> FileKind:
    folder = results_folder(campaign.name, "exports")
    return FileKind("exports", age, campaign, folder, (f"{folder}editions/",))  # promotion brings them back


def report_files(campaign: Campaign, age: str) -> FileKind:
    folder = results_folder(campaign.name, "reports")
    return FileKind("reports", age, campaign, folder, (str(UpkeepKey(campaign.name)),))  # the supervisors' own


@dataclass(slots=True)
class TaskKind:
    """Tasks that have ended. What an unfinished clean-up left in `pending` keeps the record of its end."""

    name: str
    age: str
    campaign: Campaign
    state: ListedState
    _found: list[tuple[QueueOnStore, Purge]] = field(default_factory=list)

    def look(self, progress: Progress) -> KindPlan:
        now = self.campaign.store.now()
        older = now - moment_before(now, self.age)
        places = [ended_on_store(self.campaign, name) for name in queue_names(self.campaign)]
        self._found = [(place, plan_purge(place, self.state, None, older, progress)) for place in places]
        purges = [purge for _, purge in self._found]
        return KindPlan(
            self.name, self.age, sum(len(purge.keys) for purge in purges), sum(purge.bytes for purge in purges)
        )

    def remove(self, announce: Announce, progress: Progress) -> int:
        for place, purge in self._found:
            for start in range(0, len(purge.keys), _BATCH):
                announce([RemovedItem(name=key) for key in purge.keys[start : start + _BATCH]])
            if purge.keys:
                carry_out(place, purge, progress)
        return sum(len(purge.keys) for _, purge in self._found)


@dataclass(slots=True)
class IndexVersionKind:
    """Earlier versions of the campaign's own indexes: condemned first, deleted by a later run (`cocli index gc`)."""

    name: str
    age: str
    workspace: Workspace
    campaign: Campaign

    def look(self, progress: Progress) -> KindPlan:
        reports = self._collect(dry_run=True)
        progress(len(reports))
        gone = [key for report in reports for key in (*report.condemned, *report.deleted)]
        return KindPlan(self.name, self.age, len(gone), sum(report.freed_bytes for report in reports))

    def remove(self, announce: Announce, progress: Progress) -> int:
        reports = self._collect(dry_run=False)
        gone = [key for report in reports for key in (*report.condemned, *report.deleted)]
        if gone:
            announce([RemovedItem(name=key) for key in gone])
        progress(len(gone))
        return len(gone)

    def _collect(self, *, dry_run: bool) -> list[CollectionReport]:
        indexes = campaign_indexes(self.workspace, self.campaign.name)
        now = self.campaign.store.now()
        keep = now - moment_before(now, self.age)
        refs = [ref for ref in indexes.refs() if ref.campaign == self.campaign.name]
        return [collect_garbage(indexes, ref, keep_versions=1, keep=keep, grace=GRACE, dry_run=dry_run) for ref in refs]
