"""What gRPC and HTTP share: the documents, who calls, what accounts use, the threads, and the process for replays."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.documents.uploads import Uploads
from cocli.errors import QuotaExceeded
from cocli.service.account_pace import AccountPace
from cocli.service.discretion import Discretion
from cocli.service.documents.accounts import AccountLimits, Accounts
from cocli.service.documents.call_threads import CallThreads
from cocli.service.documents.callers import TokenCallers, check_scope
from cocli.service.documents.health import HealthWatch
from cocli.service.documents.replays import Replays
from cocli.service.documents.work_process import WorkProcess
from cocli.service.request_places import RequestPlaces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.tokens import TokenCaller, Tokens, TokenScope

_STREAMS = 512
_SHARE = 0.25
"""Of the streams, for one account."""


@dataclass(frozen=True, slots=True)
class ServiceBackend:
    documents: Documents
    callers: TokenCallers
    accounts: Accounts
    pace: AccountPace
    threads: CallThreads
    work: WorkProcess
    replays: Replays
    health: HealthWatch
    uploads: Uploads
    streams: RequestPlaces
    """Of uploads, downloads and watchers: none holds a thread."""
    discretion: Discretion
    log: Callable[[str], None]

    async def caller(self, token: str) -> TokenCaller:
        """Whom a token speaks for. In a thread where the store has to be asked."""
        known = self.callers.known(token)
        if known is not None:
            return known
        return await asyncio.to_thread(self.callers.check, token)

    async def admit(self, caller: TokenCaller, scope: TokenScope, size: int) -> None:
        """Let a request in that may do what it wants, and whose account has not asked for too much, when its turn
        has come."""
        check_scope(caller, scope)
        try:
            self.accounts.admit(caller.account, size)
            seconds = self.pace.wait(caller.account)
        except QuotaExceeded:
            await asyncio.sleep(self.pace.refusal_wait(caller.account))
            raise
        if seconds:
            await asyncio.sleep(seconds)


@contextmanager
def opened_backend(
    documents: Documents,
    tokens: Tokens,
    *,
    clock: Callable[[], datetime],
    log: Callable[[str], None],
    graph: str | None = None,
) -> Iterator[ServiceBackend]:
    accounts, work = Accounts(AccountLimits.of(documents.section)), WorkProcess(documents)
    pace = AccountPace(documents.section.account_pace)
    health = HealthWatch(documents)
    try:
        with CallThreads() as threads, health.watching():
            replays = Replays(documents, threads, work, accounts, graph)
            callers = TokenCallers(tokens, clock)
            streams = RequestPlaces(_STREAMS, share=_SHARE)
            uploads, discretion = Uploads(documents), Discretion(documents.left_alone)
            yield ServiceBackend(
                documents, callers, accounts, pace, threads, work, replays, health, uploads, streams, discretion, log
            )
    finally:
        work.close()
