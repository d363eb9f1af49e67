"""The three-way comparison of one key: what was there, what is here, what is there, and so what is to be done.

Pure: nothing is read or written here. `docs/sync.md` has the same table.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from cocli.sync.kinds import SyncRule

if TYPE_CHECKING:
    from cocli.sync.kinds import SyncKind
    from cocli.sync.pair import Direction


class Action(StrEnum):
    UPLOAD = "upload"
    DOWNLOAD = "download"
    SETTLE = "settle"
    """Both have it and may differ: compare, then settle by the kind's rule."""
    DELETE_THERE = "delete there"
    DELETE_HERE = "delete here"
    ADOPT = "adopt"
    """Both have the same: only remember it."""
    FORGET = "forget"
    """Neither has it any more."""
    HOLD = "hold"
    """Deleted on one side. Not followed without being told to, and not brought back either."""
    BEHIND = "behind"
    """There is something new over there; this direction does not fetch it."""
    AHEAD = "ahead"
    """There is something new here; this direction does not send it."""
    NOTHING = "nothing"


class SideChange(StrEnum):
    """What became of one side since both agreed."""

    NEVER = "never there"
    SAME = "same"
    NEW = "new"
    """There, though nobody remembers it."""
    CHANGED = "changed"
    GONE = "gone"


class SyncOptions(NamedTuple):
    """What a run may do."""

    direction: Direction
    delete: bool = False
    """Whether deletions are followed."""
    restore: bool = False
    """Whether deletions are undone: what was deleted here is fetched again, what was deleted there sent again."""


def decide(here: SideChange, there: SideChange, kind: SyncKind, options: SyncOptions) -> Action:
    """What to do about a key; `here` and `there` are each compared with what both had."""
    up, down = options.direction.up and not kind.pull_only, options.direction.down
    sent = Action.UPLOAD if up else Action.AHEAD
    fetched = Action.DOWNLOAD if down else Action.BEHIND
    if here is SideChange.GONE and there is SideChange.GONE:
        return Action.FORGET
    if there in (SideChange.NEVER, SideChange.GONE) and here in (SideChange.NEW, SideChange.CHANGED):
        return sent  # an edit outlives a deletion
    if here in (SideChange.NEVER, SideChange.GONE) and there in (SideChange.NEW, SideChange.CHANGED):
        return fetched
    if here is SideChange.GONE:
        return _deleted_here(kind, options, up=up, down=down)
    if there is SideChange.GONE:
        return _deleted_there(kind, options, up=up, down=down)
    return _both_there(here, there, kind, sent=sent, fetched=fetched)


def _deleted_here(kind: SyncKind, options: SyncOptions, *, up: bool, down: bool) -> Action:
    if options.restore and down:
        return Action.DOWNLOAD
    if not up:
        return Action.HOLD
    follows = options.delete or kind.consumed
    return Action.DELETE_THERE if follows else Action.HOLD


def _deleted_there(kind: SyncKind, options: SyncOptions, *, up: bool, down: bool) -> Action:
    if options.restore and up and not kind.consumed:
        return Action.UPLOAD
    if not down:
        return Action.HOLD
    follows = options.delete or kind.consumed
    return Action.DELETE_HERE if follows else Action.HOLD


def _both_there(here: SideChange, there: SideChange, kind: SyncKind, *, sent: Action, fetched: Action) -> Action:
    if here is SideChange.SAME and there is SideChange.SAME:
        return Action.NOTHING
    if kind.rule is SyncRule.IMMUTABLE:
        return Action.ADOPT  # whatever its stamp says: the name is the content
    if there is SideChange.SAME:
        return sent
    if here is SideChange.SAME:
        return fetched
    return Action.SETTLE
