"""Who calls, by token. A token that was found good is believed for two seconds, without asking anybody."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cocli.errors import ScopeMissing, TokenRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from cocli.app.documents.tokens import TokenCaller, Tokens, TokenScope

_BELIEVED_SECONDS = 2.0
"""As long as evictions and revocations are believed."""
_REMEMBERED = 10_000


class TokenCallers:
    def __init__(self, tokens: Tokens, clock: Callable[[], datetime]) -> None:
        self._tokens = tokens
        self._clock = clock
        self._known: dict[str, tuple[float, TokenCaller]] = {}

    def known(self, token: str) -> TokenCaller | None:
        """Whom a token speaks for, if it was checked a moment ago. Costs nothing: for an event loop."""
        found = self._known.get(token)
        if found is None or found[0] < time.monotonic() or self._clock().timestamp() >= found[1].expires:
            return None
        return found[1]

    def check(self, token: str) -> TokenCaller:
        """As `known`, or by signature and by the store, which may take its time."""
        known = self.known(token)
        if known is not None:
            return known
        caller = self._tokens.caller(token, self._clock())
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[token] = time.monotonic() + _BELIEVED_SECONDS, caller
        return caller


def bearer_of(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """The token of a gRPC call, unchecked."""
    given = [str(value) for name, value in metadata if name == "authorization"]
    if len(given) != 1 or not given[0].startswith("Bearer "):
        raise TokenRefused(reason="the call has none, or more than one")
    return given[0].removeprefix("Bearer ")


def check_scope(caller: TokenCaller, scope: TokenScope) -> None:
    if not caller.may(scope):
        raise ScopeMissing(scope=scope.value)
