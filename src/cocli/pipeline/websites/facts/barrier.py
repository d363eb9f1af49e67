"""The barrier between a page and whoever reads it: an extractor that fails costs what it would have found, no more.

A page can be anything, and an extractor can have a mistake that one page in a million shows. What happened is kept
with the page's facts, so that it can be found, counted and mended, and the page read again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from cocli import logs

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logs.get_logger(__name__)
_T = TypeVar("_T")
_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class ExtractorFailure:
    """An extractor that raised an exception on a page. It is a mistake of ours, whatever the page looks like."""

    extractor: str
    reason: str


@dataclass(slots=True)
class Barrier:
    """For one page. `failures` is what was held back."""

    url: str
    failures: list[ExtractorFailure] = field(default_factory=list)

    def attempt(self, extractor: str, find: Callable[[], _T], nothing: _T) -> _T:
        """What `find` finds, or `nothing`. A machine that runs out of memory is not the page's doing: that goes on."""
        try:
            return find()
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is: kept, counted and told
            reason = f"{type(error).__name__}: {error}"[:_REASON_CHARS]
            _LOG.warning("extractor failed", extra={"extractor": extractor, "page": self.url, "reason": reason})
            self.failures.append(ExtractorFailure(extractor, reason))
            return nothing
