"""A question and its answer over one connection, whichever version of HTTP it speaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A GET."""

    scheme: str
    host: str
    port: int
    target: str
    """Path and query."""
    headers: Sequence[tuple[str, str]]
    """With that of the host."""
    seconds: float
    """To connect, and again to encrypt."""
    sent: Callable[[], None] = lambda: None
    """Called when it is on its way over a connection that stands; never by who cannot tell."""


class WireAnswer(Protocol):
    """An answer whose head is there."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Sequence[Header]: ...

    @property
    def version(self) -> str:
        """`HTTP/1.1`."""
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes, still packed."""
        ...

    async def close(self) -> None:
        """Nobody reads on. A connection whose answer was not read to its end ends with it."""
        ...


class WireConnection(Protocol):
    """A connection to one origin: opened by its first request, one request at a time."""

    async def ask(self, request: WireRequest) -> WireAnswer: ...

    @property
    def is_usable(self) -> bool:
        """Whether another request may be sent over it."""
        ...

    async def close(self) -> None: ...
