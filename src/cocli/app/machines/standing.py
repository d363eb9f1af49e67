"""What lies in a campaign's folders now, told so that two looks can be compared: has anything changed since?

A look reads pointers and lists what waits. It opens no record, and costs the same however large a campaign is.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from cocli.app.campaigns.plan import TARGETS
from cocli.app.indexes.indexes import needed_campaign, record_indexes
from cocli.app.queues.queues import ended_on_store, opened_queue
from cocli.errors import FormatError, NotFound, QueueUnusable
from cocli.fleet.commands import WORKED
from cocli.formats import json_records
from cocli.index.latest import read_pointer
from cocli.index.pending import list_pending
from cocli.keys.paths import task_folder
from cocli.models.lease import Lease
from cocli.queue.providers import provider_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign
    from cocli.keys.paths import IndexRef
    from cocli.store.base import ObjectInfo, Store

_MOST_KEYS = 1000
"""Of a queue, what one request lists: with more there, it is busy."""
_MOST_LEASES = 200
_NO_VERSION = "0"
_SECTIONS = {"campaign", "prospecting", "exclude", "documents"}
"""Of the campaign's file, what records, pages and the report follow from."""


@dataclass(frozen=True, slots=True)
class CampaignStanding:
    records: dict[str, str]
    """Index → its version, and a digest of what waits to be packed."""
    beside: dict[str, str]
    """What else pages and the report follow from: the plan, the campaign's file, how many tasks wait."""
    quiet: bool
    """Nobody works, and nothing can be worked on now."""

    @property
    def empty(self) -> bool:
        """No record was ever written."""
        return set(self.records.values()) == {_NO_VERSION}

    @property
    def everything(self) -> dict[str, str]:
        return self.records | self.beside


def look_at(indexes: Indexes) -> CampaignStanding:
    campaign = needed_campaign(indexes)
    records = {ref.name: _of_index(indexes, ref) for ref in record_indexes(campaign.name)}
    beside = {TARGETS: _version(indexes, indexes.ref(TARGETS)), "settings": _settings(campaign)}
    quiet = True
    for queue in WORKED:
        tasks, is_quiet = _of_queue(campaign, queue)
        beside[queue] = str(tasks)
        quiet = quiet and is_quiet
    return CampaignStanding(records, beside, quiet)


def _of_index(indexes: Indexes, ref: IndexRef) -> str:
    version = _version(indexes, ref)
    waiting = list_pending(indexes.open(ref), {}).waiting
    if not waiting:
        return version
    return f"{version} and {len(waiting)} {_digest(_shown(info) for info in waiting)}"


def _version(indexes: Indexes, ref: IndexRef) -> str:
    pointer = read_pointer(indexes.open(ref))
    if pointer is None:
        return _NO_VERSION
    return str(pointer.latest.version)


def _shown(info: ObjectInfo) -> str:
    return f"{info.key} {info.etag} {info.size} {info.modified.isoformat()}"


def _settings(campaign: Campaign) -> str:
    values = campaign.settings.model().model_dump(mode="json", include=_SECTIONS)
    return _digest([json.dumps(values, sort_keys=True)])


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\n")
    return digest.hexdigest()[:16]


# --- queues


def waiting_tasks(campaign: Campaign, name: str) -> int:
    """How many tasks of a queue wait or are worked on, as far as one request tells."""
    return _of_queue(campaign, name)[0]


def is_quiet(campaign: Campaign, name: str) -> bool:
    """Whether nobody can work on any task of a queue now."""
    return _of_queue(campaign, name)[1]


def _of_queue(campaign: Campaign, name: str) -> tuple[int, bool]:
    """How many tasks wait, as far as one request tells, and whether nobody can work on any of them now."""
    if not provider_of(campaign.settings.model()).lists_pending:
        return _told(campaign, name)
    store, places = campaign.store, ended_on_store(campaign, name).places
    tasks, leases = set[str](), dict[str, str]()
    keys = [info.key for info in islice(store.list(places.pending), _MOST_KEYS)]
    for key in keys:
        found = task_folder(key)
        if found is not None and found[1]:
            leases[found[0]] = key
        elif found is not None:
            tasks.add(found[0])
    if len(keys) >= _MOST_KEYS or len(leases) > _MOST_LEASES or tasks - leases.keys():
        return len(tasks), False
    return len(tasks), all(_is_waiting(store, leases[folder]) for folder in tasks)


def _told(campaign: Campaign, name: str) -> tuple[int, bool]:
    """By a provider that keeps its tasks itself: what waits for another try cannot be told apart."""
    try:
        with opened_queue(campaign, name) as queue:
            stats = queue.stats()
    except QueueUnusable:
        return 0, True  # nobody has created it, so nobody works on it; `cluster status` says that
    return stats.pending, not (stats.pending or stats.leased)


def _is_waiting(store: Store, lease_key: str) -> bool:
    """Whether a task failed before and is tried again later."""
    try:
        lease = json_records.read(Lease, store.get(lease_key).data, file=lease_key)
    except NotFound:
        return True  # it ended since it was listed
    except FormatError:
        return False  # whoever claims it next sees to it
    return not lease.held and lease.not_before is not None and lease.not_before > store.now()
