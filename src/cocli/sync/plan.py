"""The plan of a run: every key that is not as both had it, and what is to be done about it. Nothing is changed yet."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import ChangedWhileRead, CocliError, NotFound, SideEmptied, StoreError, TooManyDeletions
from cocli.keys.parts import is_key
from cocli.store.base import ObjectInfo
from cocli.store.etag import content_etag
from cocli.sync import remote
from cocli.sync.decision import Action, SideChange, SyncOptions, decide
from cocli.sync.kinds import SyncKind, SyncRule
from cocli.sync.pair import Direction
from cocli.sync.state import SyncRow, row_of

if TYPE_CHECKING:
    from cocli.sync.folder import Stamp
    from cocli.sync.pair import SyncPair
    from cocli.sync.selection import Selection

_LOG = logs.get_logger(__name__)

DELETION_LIMIT = 20
"""Per cent of what both had. More in one run is more likely a mistake than a wish."""
_FEW = 50
"""Files that nobody remembers, up to which a push does not list the bucket."""
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class SyncStep:
    """What is to be done about one key."""

    key: str
    kind: SyncKind
    action: Action
    stamp: Stamp | None
    """The file here, as it looked."""
    there: ObjectInfo | None
    row: SyncRow | None

    @property
    def size(self) -> int:
        """The bytes that it moves, about."""
        here = self.stamp.size if self.stamp else 0
        there = self.there.size if self.there else 0
        if self.action is Action.UPLOAD:
            return here
        if self.action is Action.DOWNLOAD:
            return there
        if self.action is Action.SETTLE:
            return max(here, there)
        return 0

    @property
    def etag_there(self) -> str | None:
        """The object there, as it was listed."""
        return None if self.there is None else self.there.etag

    @property
    def known_digest(self) -> str:
        """What both sides had; empty where that is not known."""
        return "" if self.row is None else self.row.digest


@dataclass(slots=True)
class SyncPlan:
    steps: list[SyncStep] = field(default_factory=list)
    refreshed: dict[str, SyncRow] = field(default_factory=dict)
    """Files that only look different: their rows are written anew."""
    failed: dict[str, CocliError] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """What cannot be brought over, and why: bad names, links."""
    unchanged: int = 0
    known: int = 0
    """Files that both had."""
    pointers: set[str] = field(default_factory=set)
    """Folders of indexes that were seen on either side."""
    here: dict[str, Stamp] = field(default_factory=dict)
    there: dict[str, ObjectInfo] = field(default_factory=dict)

    def of(self, *actions: Action) -> list[SyncStep]:
        return [step for step in self.steps if step.action in actions]

    @property
    def counts(self) -> Counter[str]:
        return Counter(step.action.value for step in self.steps)

    @property
    def bytes(self) -> int:
        return sum(step.size for step in self.steps)

    def check_sides(self) -> None:
        """Refuse to take a side that has nothing any more for one on which somebody deleted everything.

        A disk that is not mounted, a bucket of another account and a wrong prefix look the same.
        """
        sides = ((Action.DELETE_THERE, "folder", self.here), (Action.DELETE_HERE, "bucket", self.there))
        for action, where, there in sides:
            if not there and len(self.of(action)) > 1:
                raise SideEmptied(key="", reason="", where=where, known=self.known)

    def check_deletions(self) -> None:
        """Refuse to go on where more is to be deleted than anybody may have meant."""
        for action, where in ((Action.DELETE_THERE, "in the bucket"), (Action.DELETE_HERE, "in the folder")):
            count = sum(not step.kind.consumed for step in self.of(action))
            if count * 100 > self.known * DELETION_LIMIT:
                raise TooManyDeletions(
                    key="", reason="", deletions=count, known=self.known, where=where, limit=DELETION_LIMIT
                )


def make_plan(pair: SyncPair, selection: Selection, options: SyncOptions) -> SyncPlan:
    """Look at both sides and compare them with what they had."""
    return _Planner(pair, selection, options).plan()


class _Planner:
    def __init__(self, pair: SyncPair, selection: Selection, options: SyncOptions) -> None:
        self._pair = pair
        self._selection = selection
        self._options = options
        self._plan = SyncPlan()
        self._choose = selection.chooser()
        self._looked = 0
        self._there_is_as_it_was = False

    def plan(self) -> SyncPlan:
        pair, plan = self._pair, self._plan
        rows = pair.state.rows()
        self._looked = pair.folder.now_ns()
        self._look(rows)
        chosen = self._chosen(rows)
        plan.known = sum(key in rows for key in chosen)
        self._compare(rows, chosen)
        self._refuse_cases()
        return plan

    def _look(self, rows: dict[str, SyncRow]) -> None:
        """Both sides, at the same time. A push that has little new to send takes the bucket to be as it was: its
        writes are conditional, so whatever is not so is noticed where it matters, and a listing is saved."""
        pair, plan, selection = self._pair, self._plan, self._selection
        folders, keys = selection.folders(), selection.single_keys()

        def there() -> dict[str, ObjectInfo]:
            return remote.look(pair.bucket, folders, keys)

        def here() -> dict[str, Stamp]:
            found = pair.folder.walk(folders, plan.skipped.__setitem__)
            found.update({key: stamp for key in keys if (stamp := pair.folder.stamp(key)) is not None})
            return found

        if self._options.direction is Direction.PUSH and not self._options.restore:
            plan.here = here()
            self._there_is_as_it_was = len(plan.here.keys() - rows.keys()) <= max(_FEW, len(rows) // 10)
            if not self._there_is_as_it_was:
                plan.there = there()
        else:
            plan.there, plan.here = pair.side_by_side(lambda look: look(), [there, here])

    def _chosen(self, rows: dict[str, SyncRow]) -> dict[str, SyncKind | None]:
        """The keys that this sync is about. A known key that looks the same on both sides is not even classified."""
        chosen: dict[str, SyncKind | None] = {}
        plan, folders = self._plan, tuple(self._selection.folders())
        here, there, as_it_was = plan.here, plan.there, self._there_is_as_it_was
        for key, row in rows.items():
            stamp = here.get(key)
            same_here = stamp is not None and row[:4] == stamp and not stamp.is_racy(row.looked_ns)
            if same_here and (as_it_was or ((info := there.get(key)) is not None and info.etag == row.etag)):
                plan.unchanged += 1
                continue
            is_inside = self._is_inside(key, folders)
            if as_it_was and is_inside:
                there[key] = ObjectInfo(key, row.size, _LONG_AGO, row.etag)
            if is_inside or stamp is not None or key in there:
                self._choose_key(key, chosen)
        for key in chain(here, there):
            if key not in rows and key not in chosen:
                self._choose_key(key, chosen)
        return chosen

    def _is_inside(self, key: str, folders: tuple[str, ...]) -> bool:
        return key.startswith(folders) or key in self._selection.single_keys()

    def _choose_key(self, key: str, chosen: dict[str, SyncKind | None]) -> None:
        if key.endswith("/LATEST"):
            self._plan.pointers.add(key.removesuffix("LATEST"))
            return
        kind = self._choose(key)
        if kind is None:
            return
        if not is_key(key):
            self._plan.skipped[key] = "cannot be a name in a folder: letters, digits and ._~@+=,- only"
            return
        chosen[key] = kind

    def _compare(self, rows: dict[str, SyncRow], chosen: dict[str, SyncKind | None]) -> None:
        plan = self._plan
        plan.known += plan.unchanged
        infos = [info for key in chosen if (info := plan.there.get(key)) is not None and info.etag is None]
        tags = remote.etags(self._pair.bucket, infos, plan.failed.__setitem__)
        for key, kind in chosen.items():
            if kind is None or key in plan.failed:
                continue
            info = plan.there.get(key)
            if info is not None and info.etag is None:
                info = info._replace(etag=tags[key]) if key in tags else None
            step = self._step(key, kind, plan.here.get(key), info, rows.get(key))
            if step is not None:
                plan.steps.append(step)

    def _step(
        self, key: str, kind: SyncKind, stamp: Stamp | None, info: ObjectInfo | None, row: SyncRow | None
    ) -> SyncStep | None:
        try:
            here = self._change_here(key, kind, stamp, row)
        except (ChangedWhileRead, StoreError) as error:
            self._plan.failed[key] = error
            return None
        there = _change_there(kind, info, row)
        action = decide(here, there, kind, self._options)
        if action is Action.NOTHING:
            self._plan.unchanged += 1
            return None
        _LOG.debug("%s: %s (%s here, %s there)", key, action, here, there)
        return SyncStep(key, kind, action, stamp, info, row)

    def _change_here(self, key: str, kind: SyncKind, stamp: Stamp | None, row: SyncRow | None) -> SideChange:
        if stamp is None:
            return SideChange.NEVER if row is None else SideChange.GONE
        if row is None:
            return SideChange.NEW
        if kind.rule is SyncRule.IMMUTABLE or (row[:4] == stamp and not stamp.is_racy(row.looked_ns)):
            return SideChange.SAME
        if stamp.size != row.size:
            return SideChange.CHANGED
        try:
            content = self._pair.folder.read(key, self._looked)
        except NotFound:
            return SideChange.GONE
        if content_etag(content.data) != row.digest:
            return SideChange.CHANGED
        self._plan.refreshed[key] = row_of(content.stamp, self._looked, row.digest, row.etag)
        return SideChange.SAME

    def _refuse_cases(self) -> None:
        """In a folder that does not tell `A` from `a`, one of two such keys has to stay away."""
        if self._pair.folder.case_sensitive:
            return
        names: dict[str, str] = {}
        for key in self._plan.here:
            names.update((name.lower(), name) for name in _and_folders(key))
        kept: list[SyncStep] = []
        for step in self._plan.steps:
            if step.action is Action.DOWNLOAD and step.stamp is None:
                taken = next(
                    (had for name in _and_folders(step.key) if (had := names.get(name.lower(), name)) != name), ""
                )
                if taken:
                    reason = f"differs from {taken} by case only, and this folder cannot hold both"
                    self._plan.skipped[step.key] = reason
                    continue
                names.update((name.lower(), name) for name in _and_folders(step.key))
            kept.append(step)
        self._plan.steps = kept


def _and_folders(key: str) -> list[str]:
    """A key and the folders above it."""
    parts = key.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _change_there(kind: SyncKind, info: ObjectInfo | None, row: SyncRow | None) -> SideChange:
    if info is None:
        return SideChange.NEVER if row is None else SideChange.GONE
    if row is None:
        return SideChange.NEW
    if kind.rule is SyncRule.IMMUTABLE or info.etag == row.etag:
        return SideChange.SAME
    return SideChange.CHANGED
