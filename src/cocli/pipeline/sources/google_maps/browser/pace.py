"""How often Maps is asked: a pause between two pages, a ceiling per day, and a rest after refusals.

The count is kept in a file of this machine, which all its workers share: Maps sees one visitor, however many processes
there are. It outlives them.
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
    from collections.abc import Callable, Iterator

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


class Pace:
    """One per worker; all of a machine are given the same `path`."""

    def __init__(
        self,
        path: str,
        limits: PaceLimits,
        *,
        clock: Callable[[], datetime],
        sleep: Callable[[float], None],
        rng: random.Random,
    ) -> None:
        self._path = path
        self._limits = limits
        self._clock = clock
        self._sleep = sleep
        self._random = rng

    def take(self) -> None:
        """Wait for the turn of one page, and count it. `SourceResting` where none may be asked for now."""
        with self._held() as state:
            now = self._clock()
            self._refuse_to_go_on(state, now)
            pause = self._limits.pause_seconds
            seconds = now.timestamp()
            turn = max(min(state.next_at, seconds + pause * _MOST_PAUSES), seconds)
            state.next_at = turn + pause * (0.5 + self._random.random())
            state.pages += 1
        if turn > seconds:
            self._sleep(turn - seconds)

    def answered(self, *, blocked: bool) -> None:
        """How Maps took it. After several refusals in a row nobody of this machine asks for a while."""
        with self._held() as state:
            state.refusals = state.refusals + 1 if blocked else 0
            beyond = state.refusals - self._limits.refusals
            if blocked and beyond >= 0:
                rest = min(self._limits.rest_seconds * 2.0 ** min(beyond, 16), 86_400)
                state.rests_until = self._clock().timestamp() + rest
                _LOG.warning("Google Maps is left alone for %.0f s", rest, extra={"refusals": state.refusals})

    @property
    def pages_today(self) -> int:
        with self._held() as state:
            return state.pages

    def _refuse_to_go_on(self, state: _State, now: datetime) -> None:
        if state.rests_until > now.timestamp():
            until = datetime.fromtimestamp(state.rests_until, UTC)
            reason = f"it refused {state.refusals} times in a row"
            raise SourceResting(source=SOURCE, until=_shown(until), reason=reason)
        if state.pages >= self._limits.pages_per_day:
            tomorrow = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0)
            reason = f"the {self._limits.pages_per_day:,} pages of a day are used up"
            raise SourceResting(source=SOURCE, until=_shown(tomorrow), reason=reason)

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
