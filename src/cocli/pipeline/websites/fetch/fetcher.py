"""The fetcher: from an address to a typed outcome.

    async with Fetcher(Settings.of(config.fetch)) as fetcher:
        outcome = await fetcher.fetch("https://example.com/", validators=known.validators)

It follows redirects itself, and every hop is a new question: may we ask this scheme, port and address, does the
robots.txt of that host allow it, is it our turn there.
"""

from __future__ import annotations

import random as chance
from functools import partial
from typing import TYPE_CHECKING, Self

import httpcore2

from cocli import logs
from cocli.pipeline.websites.fetch.clock import RealTime
from cocli.pipeline.websites.fetch.connections import Connections, kept_connections
from cocli.pipeline.websites.fetch.guard import Guard
from cocli.pipeline.websites.fetch.http import HttpClient
from cocli.pipeline.websites.fetch.journey import REDIRECTS, RequestJourney
from cocli.pipeline.websites.fetch.known.lookups import Lookups
from cocli.pipeline.websites.fetch.known.tls_sessions import TlsSessions
from cocli.pipeline.websites.fetch.limits import Budget
from cocli.pipeline.websites.fetch.network import GuardedNetwork
from cocli.pipeline.websites.fetch.outcome import Failure, Fetched, FetchFailed, NotModified, Refused
from cocli.pipeline.websites.fetch.pace.table import PaceTable
from cocli.pipeline.websites.fetch.politeness import Politeness, site_name
from cocli.pipeline.websites.fetch.proxy import check_name, open_proxy
from cocli.pipeline.websites.fetch.request import PAGE, ROBOTS
from cocli.pipeline.websites.fetch.resolver import SystemResolver
from cocli.pipeline.websites.fetch.retries import Retrying, retry_after
from cocli.pipeline.websites.fetch.robots import Robots, Rules
from cocli.pipeline.websites.fetch.settings import FetchSettings
from cocli.pipeline.websites.fetch.signals import Breakdown, Refusal
from cocli.pipeline.websites.fetch.urls import parse_url

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from cocli.pipeline.websites.fetch.clock import Time
    from cocli.pipeline.websites.fetch.http import HttpAnswer
    from cocli.pipeline.websites.fetch.known.robots_shelf import RobotsShelf
    from cocli.pipeline.websites.fetch.outcome import Outcome, Validators
    from cocli.pipeline.websites.fetch.request import RequestOptions
    from cocli.pipeline.websites.fetch.resolver import Resolve
    from cocli.pipeline.websites.fetch.urls import Target

_LOG = logs.get_logger(__name__)

_BLOCKING = frozenset({401, 403, 429, 451})
"""Statuses by which a server refuses a visitor."""
_SILENT_SECONDS = 60.0
_REMEMBERED = 10_000
_IMPATIENCE = 3
"""A site that said nothing gets this part of the time under another spelling of its name."""
_REACHED_NOBODY = frozenset({Failure.NOBODY_LISTENS, Failure.NO_SUCH_HOST, Failure.DNS})


class Fetcher:
    """Reads pages. One per process; any number of tasks of one event loop may call `fetch` at once."""

    def __init__(
        self,
        settings: FetchSettings | None = None,
        *,
        resolve: Resolve | None = None,
        time: Time | None = None,
        random: chance.Random | None = None,
        tls: ssl.SSLContext | None = None,
        paces: PaceTable | None = None,
        robots: RobotsShelf | None = None,
    ) -> None:
        """`paces` is a table that other processes share (`open_pace_table`); without it this fetcher is alone."""
        self.settings = settings = settings or FetchSettings()
        self._time = time or RealTime()
        self._own_resolver = SystemResolver(settings.limits.lookup)
        self._guard = Guard(settings.allowed, ports=settings.ports)
        tls, sessions = tls or httpcore2.default_ssl_context(), TlsSessions()
        sessions.serve(tls)
        self._network: GuardedNetwork | None = None
        """None where a proxy looks names up."""
        if settings.proxy is None:
            lookups = Lookups(resolve or self._own_resolver, self._time, seconds=settings.limits.lookup)
            self._network = GuardedNetwork(self._guard, lookups, settings.limits, self._time, sessions)
        self._connections = Connections(
            self._network or httpcore2.AnyIOBackend(),
            tls,
            per_origin=max(settings.per_host, 1),
            kept=kept_connections(settings.concurrency),
            proxy=open_proxy(settings.proxy) if settings.proxy else None,
        )
        self._client = HttpClient(self._connections, settings.limits, user_agent=settings.user_agent)
        self._retrying = Retrying(random or chance.Random())  # noqa: S311 - spreads waits, hides nothing
        self._paces = paces or PaceTable(clock=self._time.monotonic)
        self._politeness = Politeness(
            self._time,
            rate=settings.rate,
            per_host=settings.per_host,
            total=settings.concurrency,
            longest_delay=settings.longest_delay,
            per_address=settings.per_address,
            address_rate=settings.address_rate,
            longest_rest=self._retrying.longest,
            table=self._paces,
        )
        self._silent: dict[str, float] = {}
        """Site → until when it is taken to say nothing."""
        self._shelf = robots
        self._robots = Robots(
            self._robots_txt, self._time, settings.limits, user_agent=settings.user_agent, shelf=robots
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._connections.close()
        self._own_resolver.close()
        self._paces.close()
        if self._shelf is not None:
            self._shelf.close()

    @property
    def under_way(self) -> int:
        """Requests that their servers have now; those that wait for a turn are not."""
        return self._politeness.under_way

    async def fetch(self, url: str, *, validators: Validators | None = None, options: RequestOptions = PAGE) -> Outcome:
        """What comes of asking for a page. With the validators of an earlier visit, perhaps that it did not change."""
        try:
            target = parse_url(url)
        except Refusal as refusal:
            outcome: Outcome = RequestJourney(url, self._time.now()).refused(refusal)
            _tell(None, outcome)
            return outcome
        outcome = await self._travel(target, validators, options)
        _tell(target.host, outcome)
        return outcome

    async def _travel(self, target: Target, validators: Validators | None, options: RequestOptions) -> Outcome:
        journey = RequestJourney(target.url, self._time.now(), validators)
        budget = Budget(self.settings.limits.journey)
        try:
            while True:
                journey.arrive(target)
                rules = await self._admit(target, options)
                answer = await self._ask(target, options, budget, rules.delay, journey.headers)
                if answer.status not in REDIRECTS or "location" not in answer.headers:
                    now = self._time.now()
                    return journey.outcome(answer, options, now, retry_after(answer.headers.get("retry-after"), now))
                target = self._next(journey, target, answer)
        except Refusal as refusal:
            return journey.refused(refusal)
        except Breakdown as breakdown:
            return journey.failed(breakdown)

    def _next(self, journey: RequestJourney, target: Target, answer: HttpAnswer) -> Target:
        journey.leave(target, answer.status)
        following = parse_url(answer.headers["location"], base=target.url)
        if len(journey.redirects) > self.settings.limits.redirects or journey.has_seen(following):
            raise Breakdown(Failure.TOO_MANY_REDIRECTS, f"after {len(journey.redirects)} redirects")
        return following

    def _check(self, target: Target) -> None:
        self._guard.check(target)
        if self.settings.proxy is not None:
            check_name(target)

    async def _admit(self, target: Target, options: RequestOptions) -> Rules:
        self._check(target)
        if self.settings.robots and options.asks_robots:
            return await self._robots.check(target)
        return Rules()

    async def _robots_txt(self, target: Target) -> HttpAnswer:
        self._check(target)
        site = site_name(target.host)
        patience = self.settings.limits.robots_answer
        if self._silent.get(site, 0.0) > self._time.monotonic():  # under another spelling it mostly is as well
            patience /= _IMPATIENCE
        budget = Budget(self.settings.limits.journey)
        try:
            return await self._ask(target, ROBOTS, budget, patience=patience)
        except Breakdown as breakdown:
            if breakdown.kind is Failure.TIMEOUT:
                self._note_silence(site)
            raise

    def _note_silence(self, site: str) -> None:
        self._silent.pop(site, None)
        self._silent[site] = self._time.monotonic() + _SILENT_SECONDS
        while len(self._silent) > _REMEMBERED:
            del self._silent[next(iter(self._silent))]

    async def _ask(
        self,
        target: Target,
        options: RequestOptions,
        budget: Budget,
        delay: float | None = None,
        headers: Mapping[str, str] | None = None,
        patience: float | None = None,
    ) -> HttpAnswer:
        """One request, and more of it where its failure is of a kind that passes."""
        tries = 0
        while True:
            tries += 1
            try:
                answer = await self._ask_once(target, options, budget, delay, headers, patience)
            except Breakdown as breakdown:
                _LOG.debug("no answer: %s", breakdown.kind, extra={"site": target.host, "tries": tries})
                wait = self._retrying.after_failure(tries, breakdown.kind)
                if wait is None or breakdown.settled:
                    raise
            else:
                _LOG.debug("answer %d", answer.status, extra={"site": target.host, "tries": tries})
                asked = retry_after(answer.headers.get("retry-after"), self._time.now())
                wait = self._retrying.after_status(tries, answer.status, asked)
                if wait is None:
                    return answer
            await self._time.sleep(wait)

    async def _ask_once(
        self,
        target: Target,
        options: RequestOptions,
        budget: Budget,
        delay: float | None,
        headers: Mapping[str, str] | None,
        patience: float | None,
    ) -> HttpAnswer:
        appetite = options.appetite(self.settings.limits)
        if not options.takes_turns:
            async with self._politeness.place(), budget.spending():
                return await self._client.get(target, appetite, headers)
        address = await self._address(target, budget)
        async with self._politeness.turn(target.host, delay, address) as turn, budget.spending():
            try:
                answer = await self._client.get(
                    target,
                    appetite,
                    headers,
                    sent=partial(self._politeness.sent, turn),
                    answered=partial(self._politeness.answered, turn),
                    patience=patience,
                )
            except Breakdown as breakdown:
                turn.reached_nobody = breakdown.kind in _REACHED_NOBODY
                raise
            asked = retry_after(answer.headers.get("retry-after"), self._time.now())
            turn.rest = self._retrying.rest(answer.status, asked)
            return answer

    async def _address(self, target: Target, budget: Budget) -> str | None:
        """Whose turn it is besides the site's; None where only a proxy knows."""
        if self._network is None:
            return None
        known = self._network.known_address_of(target.host, target.port)
        if known is not None:
            return known
        async with budget.spending():
            return await self._network.address_of(target.host, target.port)


def _tell(site: str | None, outcome: Outcome) -> None:
    """Never with the address: its path and its parameters are the site's business, and may be secret."""
    match outcome:
        case Refused():
            _LOG.info("not asked: %s", outcome.reason, extra={"site": site})
        case FetchFailed() if outcome.status in _BLOCKING:
            _LOG.info("the site refuses: status %d", outcome.status, extra={"site": site})
        case FetchFailed():
            _LOG.debug("nothing to read: %s", outcome.kind, extra={"site": site, "status": outcome.status})
        case Fetched():
            _LOG.debug("page read", extra={"site": site, "status": outcome.status, "bytes": len(outcome.body)})
        case NotModified():
            _LOG.debug("page has not changed", extra={"site": site})
