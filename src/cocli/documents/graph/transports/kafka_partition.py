"""What a consumer remembers of a partition that is its own, and what it leaves to the next one that has it.

A message that waits for its next attempt is parked: later messages of its document wait behind it, and those of all
others go on. So messages end out of turn. The committed offset is that of the first one that has not ended; which later
ones have is kept in the metadata of the commit, and so is which message was begun right after an assignment, how often:

    try=1207:2;done=3,5-9          the message 1207 was begun twice; those 3, and 5 to 9, behind the offset have ended
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_PARKED = 64
"""Of a partition: beyond it nothing more is read from it. It bounds the metadata too, of which brokers keep 4 kB."""
_METADATA = re.compile(r"(?:try=(?P<at>\d{1,19}):(?P<times>\d{1,9}))?;?(?:done=(?P<done>[0-9,-]*))?\Z", re.ASCII)
_MOST_DONE = 100_000


class Tried(NamedTuple):
    """A message that was begun when its partition was new here, and how often."""

    offset: int
    times: int


@dataclass(slots=True)
class ParkedMessage:
    raw: Any
    attempts: int
    due: float


class KafkaPartition:
    def __init__(self) -> None:
        self.fresh = True
        """Nothing has ended here yet: what is begun is counted, because it may kill this worker."""
        self.tried: Tried | None = None
        self.paused = False
        self._known = False
        self._parked: dict[int, ParkedMessage] = {}
        self._done: set[int] = set()
        self._next: int | None = None
        """Behind the last message that was begun."""
        self._in_hand: int | None = None
        self._told: tuple[int | None, str] | None = None
        """What was committed last."""

    # --- what the one before left

    @property
    def is_known(self) -> bool:
        return self._known

    def inherit(self, committed: int, metadata: str | None) -> None:
        self._known = True
        found = _METADATA.match(metadata or "")
        if found is None:
            return  # somebody else's words: whoever begins anew does what was done again, to the same end
        if found["at"]:
            self.tried = Tried(int(found["at"]), int(found["times"]))
        self._done = {committed + relative for relative in _offsets(found["done"] or "")}

    # --- messages

    @property
    def is_crowded(self) -> bool:
        return len(self._parked) >= MOST_PARKED

    def due(self, now: float) -> ParkedMessage | None:
        """The first message whose time has come, and that waits for no other of its document."""
        ahead = set[bytes]()
        for offset in sorted(self._parked):
            parked = self._parked[offset]
            key = parked.raw.key()
            if parked.due <= now and (key is None or key not in ahead):
                return parked
            if key is not None:
                ahead.add(key)
        return None

    def begin(self, raw: Any) -> None:
        self._in_hand = raw.offset()
        self._pass(raw)

    def park(self, raw: Any, attempts: int, due: float) -> None:
        self._parked[raw.offset()] = ParkedMessage(raw, attempts, due)
        self._pass(raw)
        if self._in_hand == raw.offset():
            self._in_hand = None

    def waits_behind(self, raw: Any) -> bool:
        """Whether an earlier message of the same document has not ended yet."""
        key = raw.key()
        return key is not None and any(
            parked.raw.key() == key and offset < raw.offset() for offset, parked in self._parked.items()
        )

    def attempts(self, raw: Any) -> int:
        """How often it was begun here before."""
        parked = self._parked.get(raw.offset())
        return 0 if parked is None else parked.attempts

    def is_parked(self, raw: Any) -> bool:
        return raw.offset() in self._parked

    def was_done(self, raw: Any) -> bool:
        return raw.offset() in self._done

    def end(self, raw: Any) -> None:
        self._parked.pop(raw.offset(), None)
        self._done.add(raw.offset())
        self._pass(raw)
        if self._in_hand == raw.offset():
            self._in_hand = None
        if self.tried is None or raw.offset() >= self.tried.offset:
            self.fresh, self.tried = False, None

    def _pass(self, raw: Any) -> None:
        self._next = max(self._next or 0, raw.offset() + 1)

    # --- what is left to the next

    def tell(self, offset: int, metadata: str) -> None:
        """It was committed."""
        self._told = (offset, metadata)

    @property
    def is_told(self) -> bool:
        """Whether whoever has the partition next knows all that ended here."""
        return self.offset is None or self._told == (self.offset, self.metadata())

    @property
    def next_offset(self) -> int | None:
        """The first message that was not begun yet; None before anything was."""
        return self._next

    @property
    def offset(self) -> int | None:
        """The first message that has not ended; None before anything was begun."""
        if self._next is None:
            return None
        left = [*self._parked, *([] if self._in_hand is None else [self._in_hand])]
        return min([*left, self._next])

    def metadata(self) -> str:
        offset = self.offset or 0
        self._done = {done for done in self._done if done >= offset}
        parts = []
        if self.tried is not None and self.tried.times > 0:
            parts.append(f"try={self.tried.offset}:{self.tried.times}")
        if self._done:
            parts.append(f"done={_ranges(done - offset for done in self._done)}")
        return ";".join(parts)


def _ranges(offsets: Iterable[int]) -> str:
    found: list[list[int]] = []
    for offset in sorted(offsets):
        if found and found[-1][1] == offset - 1:
            found[-1][1] = offset
        else:
            found.append([offset, offset])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def _offsets(ranges: str) -> set[int]:
    found = set[int]()
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            found.update(range(int(first), min(int(last or first), int(first) + _MOST_DONE) + 1))
    return found
