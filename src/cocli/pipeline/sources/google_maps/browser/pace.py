"""How often Maps is asked: a pause between two pages, a ceiling per day, and a rest after refusals.

The count is kept in a file of this machine, which all its workers share: Maps sees one visitor, however many processes
and tabs there are. It outlives them.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TextIO, cast

from cocli import logs
from cocli.config.private import make_private, no_links
from cocli.errors import ConfigError, FormatError, SourceResting
from cocli.pipeline.sources.google_maps.parser.sighting import SOURCE

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable, Iterator

_LOG = logs.get_logger(__name__)

_MOST_PAUSES = 100
"""So far ahead turns are given out at most: more is a clock that was set back."""


@dataclass(frozen=True, slots=True)
class PaceLimits:
    pages_per_day: int = 400
    pause_seconds: float = 6.0
    """Between two pages, on average."""
    refusals: int = 3
    """In a row before nothing is asked for a while."""
    rest_seconds: float = 1800.0
    """After these; twice as long after each refusal more, up to a day."""


@dataclass(slots=True)
class _State:
    day: str = ""
    pages: int = 0
    next_at: float = 0.0
    """When the next page may be asked for. Seconds of the epoch."""
    refusals: int = 0
    rests_until: float = 0.0
    """Also set by a refusal that is followed by no rest: to the time of that refusal."""


class Pace:
    """One per worker, for all of its tabs; all of a machine are given the same `path`."""

    def __init__(
        self,
        path: str,
        limits: PaceLimits,
        *,
        clock: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[object]],
        rng: random.Random,
    ) -> None:
        self._path = path
        self._limits = limits
        self._clock = clock
        self._sleep = sleep
        self._random = rng

    async def take(self) -> float:
        """Wait for the turn of one page, count it, and say when that was (seconds of the epoch).

        `SourceResting` where none may be asked for now, also where that came up while it was waited for.
        """
        with self._held() as state:
            now = self._clock()
            self._refuse_a_page(state, now)
            pause = self._limits.pause_seconds
            seconds = now.timestamp()
            turn = max(min(state.next_at, seconds + pause * _MOST_PAUSES), seconds)
            state.next_at = turn + pause * (0.5 + self._random.random())
            state.pages += 1
        if turn > seconds:
            await self._sleep(turn - seconds)
            self.check()
        return turn

    def check(self) -> None:
        """`SourceResting` where Maps was left alone in the meantime: whoever is in the middle of a list stops there."""
        self._refuse_in_a_rest(self._read(), self._clock())

    def answered(self, turn: float, *, blocked: bool) -> None:
        """How Maps took the page that had this turn. After several refusals in a row nobody of this machine asks for a
        while.

        Tabs and workers have pages open at the same time: one that was asked for before a refusal says nothing of what
        came after it, and its own refusal makes no rest longer that has begun.
        """
        with self._held() as state:
            now = self._clock().timestamp()
            if not blocked:
                state.refusals = 0 if turn >= state.rests_until else state.refusals
            elif not turn < state.rests_until > now:
                state.refusals += 1
                state.rests_until = now + self._rest(state.refusals)

    def _rest(self, refusals: int) -> float:
        beyond = refusals - self._limits.refusals
        if beyond < 0:
            return 0.0
        rest = min(self._limits.rest_seconds * 2.0 ** min(beyond, 16), 86_400)
        _LOG.warning("Google Maps is left alone for %.0f s", rest, extra={"refusals": refusals})
        return rest

    @property
    def pages_today(self) -> int:
        with self._held() as state:
            return state.pages

    def _refuse_a_page(self, state: _State, now: datetime) -> None:
        self._refuse_in_a_rest(state, now)
        if state.pages >= self._limits.pages_per_day:
            tomorrow = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0)
            reason = f"the {self._limits.pages_per_day:,} pages of a day are used up"
            raise SourceResting(source=SOURCE, until=_shown(tomorrow), reason=reason)

    def _refuse_in_a_rest(self, state: _State, now: datetime) -> None:
        if state.refusals >= self._limits.refusals and state.rests_until > now.timestamp():
            until = datetime.fromtimestamp(state.rests_until, UTC)
            reason = f"it refused {state.refusals} times in a row"
            raise SourceResting(source=SOURCE, until=_shown(until), reason=reason)

    @contextmanager
    def _held(self) -> Iterator[_State]:
        """The state, while nobody else has it; what was changed is written when the block ends well."""
        with _opened(f"{self._path}.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self._read()
            yield state
            text = json.dumps(asdict(state), sort_keys=True)
            with _opened(f"{self._path}.new", "w") as file:
                file.write(text)
            os.replace(f"{self._path}.new", self._path)

    def _read(self) -> _State:
        today = f"{self._clock().astimezone(UTC):%Y-%m-%d}"
        try:
            with _opened(self._path, "r") as file:
                state = _State(**json.load(file))
        except FileNotFoundError:  # nobody asked from this machine yet
            return _State(today)
        except (ValueError, TypeError) as error:
            raise FormatError(
                file=self._path, line=1, reason=f"is not a count of pages ({error}); delete it"
            ) from error
        if state.day != today:
            state.day, state.pages = today, 0
        return state


def _opened(path: str, mode: str) -> TextIO:
    """A file of the state home, where no link is followed."""
    try:
        make_private(os.path.dirname(path))
        return cast("TextIO", open(path, mode, encoding="utf-8", opener=no_links))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(reason=f"{path} cannot be opened: {error.strerror}", hint="Remove it.") from error


def _shown(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
