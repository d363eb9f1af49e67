"""What a site wants of robots: its robots.txt, read once a day per origin (RFC 9309).

No file (4xx) means that everything may be read. A server that fails (5xx, 429) means that nothing may be read for now.
A host that cannot be reached at all is not a matter of robots: the page gets the verdict of the connection.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from protego import Protego

from cocli.pipeline.websites.fetch.outcome import Failure, Reason
from cocli.pipeline.websites.fetch.signals import Breakdown, Refusal
from cocli.pipeline.websites.fetch.urls import parse_url

if TYPE_CHECKING:
    from cocli.pipeline.websites.fetch.clock import Time
    from cocli.pipeline.websites.fetch.http import HttpAnswer
    from cocli.pipeline.websites.fetch.known.robots_shelf import RobotsShelf
    from cocli.pipeline.websites.fetch.limits import FetchLimits
    from cocli.pipeline.websites.fetch.urls import Target

_FRESH = 24 * 3600.0
_FRESH_FAILURE = 300.0
_REMEMBERED = 5_000
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_AGENT_LINE = re.compile(r"[ \t]*user[-\s]*agent[\s:]+([^#]*)", re.IGNORECASE)
_SITEMAP_LINE = re.compile(r"[ \t]*sitemap[ \t]*:", re.IGNORECASE)
_OTHER_AGENT = "user-agent: \x01"
_MAX_AGENTS = 8
_TOO_MANY_REQUESTS = 429
_SHORT = 1024
"""Bytes of a file that others are likely to have as well."""


class RobotsRequest(Protocol):
    """One polite request for a robots.txt, with the retries that belong to it."""

    async def __call__(self, target: Target) -> HttpAnswer: ...


@dataclass(frozen=True, slots=True)
class Rules:
    """Of one origin, for us."""

    delay: float | None = None
    """Seconds between two requests."""
    parsed: Protego | None = field(default=None, repr=False)

    def allow(self, url: str, user_agent: str) -> bool:
        return self.parsed is None or self.parsed.can_fetch(url, user_agent)


@dataclass(frozen=True, slots=True)
class _Known:
    until: float
    rules: Rules
    problem: Refusal | Breakdown | None = None


class Robots:
    """The robots.txt files of all origins that a fetcher has to do with."""

    def __init__(
        self,
        ask: RobotsRequest,
        time: Time,
        limits: FetchLimits,
        *,
        user_agent: str,
        shelf: RobotsShelf | None = None,
    ) -> None:
        """`shelf` has what other processes have read."""
        self._ask = ask
        self._shelf = shelf
        self._time = time
        self._limits = limits
        self._user_agent = user_agent
        self._known: OrderedDict[tuple[str, str, int], _Known] = OrderedDict()
        self._loading: dict[tuple[str, str, int], asyncio.Lock] = {}

    async def rules(self, target: Target) -> Rules:
        """The rules of the target's origin. Raises `Refusal` and `Breakdown` where they could not be read."""
        known = await self._of(target)
        if known.problem is not None:
            raise _again(known.problem)
        return known.rules

    async def check(self, target: Target) -> Rules:
        """The same, where they allow the page. Raises `Refusal` where they do not."""
        rules = await self.rules(target)
        if not rules.allow(target.url, self._user_agent):
            raise Refusal(Reason.ROBOTS, "robots.txt does not want this page read", target.url)
        return rules

    async def _of(self, target: Target) -> _Known:
        origin = target.origin
        known = self._fresh(origin) or self._shelved(target)
        if known is not None:
            return known
        async with self._loading.setdefault(origin, asyncio.Lock()):
            known = self._fresh(origin)  # whoever held the lock may have read it
            try:
                if known is None:
                    known = await self._load(target)
                    self._remember(origin, known)
            finally:
                self._loading.pop(origin, None)
        return known

    def _fresh(self, origin: tuple[str, str, int]) -> _Known | None:
        known = self._known.get(origin)
        if known is not None and known.until > self._time.monotonic():
            return known
        return None

    def _remember(self, origin: tuple[str, str, int], known: _Known) -> None:
        self._known[origin] = known
        self._known.move_to_end(origin)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def _shelved(self, target: Target) -> _Known | None:
        """What another process has read, or an earlier one."""
        kept = self._shelf.find(_file_url(target)) if self._shelf else None
        if kept is None:
            return None
        known = _Known(self._time.monotonic() + _FRESH - kept.age, self._rules(kept.body))
        self._remember(target.origin, known)
        return known

    async def _load(self, target: Target) -> _Known:
        url = _file_url(target)
        try:
            body = await self._read(parse_url(url))
        except (Refusal, Breakdown) as problem:
            return _Known(self._time.monotonic() + _FRESH_FAILURE, Rules(), problem)
        if self._shelf:
            self._shelf.keep(url, body)
        return _Known(self._time.monotonic() + _FRESH, self._rules(body))

    async def _read(self, first: Target) -> bytes | None:
        """The file; None where there is none."""
        target = first
        for _ in range(self._limits.robots_redirects + 1):
            try:
                answer = await self._ask(target)
                if answer.status not in _REDIRECTS or "location" not in answer.headers:
                    return _file_of(answer, first)
                target = parse_url(answer.headers["location"], base=target.url)
            except (Refusal, Breakdown) as problem:
                if target is first and getattr(problem, "kind", None) is not Failure.TOO_LARGE:
                    raise  # the page itself would meet the same
                raise Refusal(Reason.ROBOTS_UNAVAILABLE, f"its robots.txt: {problem.detail}", first.url) from problem
        return None  # what cannot be found within some redirects is not there

    def _rules(self, body: bytes | None) -> Rules:
        if body is None:
            return Rules()
        return read_rules(body, self._user_agent)


def _file_url(target: Target) -> str:
    return "/".join([*target.url.split("/", 3)[:3], "robots.txt"])  # of a target, which has been read already


def _file_of(answer: HttpAnswer, asked: Target) -> bytes | None:
    if answer.status >= 500 or answer.status == _TOO_MANY_REQUESTS:
        raise Refusal(Reason.ROBOTS_UNAVAILABLE, f"its robots.txt: status {answer.status}", asked.url)
    return answer.body if answer.status < 300 else None


def read_rules(body: bytes, user_agent: str) -> Rules:
    """What a robots.txt says to us."""
    text = _for_us(body.decode("utf-8", "replace"), user_agent.lower())
    if len(text) <= _SHORT:
        return _short_rules(text, user_agent)
    return _rules_in(text, user_agent)


def _rules_in(text: str, user_agent: str) -> Rules:
    parsed = Protego.parse(text)
    rate = parsed.request_rate(user_agent)
    delays = (parsed.crawl_delay(user_agent), rate.seconds / rate.requests if rate else None)
    return Rules(max((delay for delay in delays if delay is not None), default=None), parsed)


@lru_cache(maxsize=512)
def _short_rules(text: str, user_agent: str) -> Rules:
    """Most sites have the file that their software came with."""
    return _rules_in(text, user_agent)


def _for_us(text: str, user_agent: str) -> str:
    """The same file with every group that cannot be meant for us under one name, and without its sitemaps.

    The parser keeps each rule once for each agent of its group, so that a file of thousands of both would take hours.
    Sitemaps belong to no group; without them the files of many sites are the same.
    """
    lines, agents = [], set[str]()
    for line in text.lstrip("\ufeff").splitlines():
        match = _AGENT_LINE.match(line)
        if match is None:
            if not _SITEMAP_LINE.match(line):
                lines.append(line)
            continue
        agent = match[1].strip().lower()
        bare = agent.replace("*", "")
        if agent == "*" or (bare and bare in user_agent and (agent in agents or len(agents) < _MAX_AGENTS)):
            agents.add(agent)
            lines.append(line)
        else:
            lines.append(_OTHER_AGENT)
    return "\n".join(lines)


def _again(problem: Refusal | Breakdown) -> Refusal | Breakdown:
    """A copy to raise: one that is kept and raised many times would drag all its tracebacks along."""
    if isinstance(problem, Refusal):
        return Refusal(problem.reason, problem.detail, problem.url)
    return Breakdown(problem.kind, problem.detail)
