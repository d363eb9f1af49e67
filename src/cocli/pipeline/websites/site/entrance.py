"""The ways into a site: the address as given, and those under which it may answer where that one is dead."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cocli.pipeline.websites.fetch.outcome import Failure, FetchFailed
from cocli.pipeline.websites.page.url import is_root, other_spellings, root_of
from cocli.pipeline.websites.triage.triage import Triage, triage_outcome

if TYPE_CHECKING:
    from cocli.pipeline.websites.fetch.outcome import Refused

MAX_WAYS = 5
_OF_THE_NAME = (Failure.NO_SUCH_HOST, Failure.DNS)


class Entrance:
    """Which address to try next, and what the failures come to."""

    def __init__(self, url: str, most: int = MAX_WAYS) -> None:
        root = root_of(url)
        ways = [url, *([] if is_root(url) else [root]), *other_spellings(root)]
        self._ways = deque(dict.fromkeys(ways))
        self._given = {url, root}
        self._most = most
        self._tries = 0
        self._may_pass = False
        self._nobody_listens = False
        self._verdicts: list[Triage] = []

    def next(self) -> str | None:
        if self._tries >= self._most or not self._ways or self._is_settled:
            return None
        self._tries += 1
        return self._ways.popleft()

    def failed(self, outcome: FetchFailed | Refused) -> None:
        """It does not go this way. A name that leads nowhere is not looked up again for another scheme."""
        verdict = triage_outcome(outcome)
        self._verdicts.append(verdict)
        # Whether another day may help is said by the address that was given, not by our guesses at others.
        # Only where nobody listens at that one, another spelling may be the site, and just slow.
        self._nobody_listens |= isinstance(outcome, FetchFailed) and outcome.kind is Failure.NOBODY_LISTENS
        self._may_pass |= verdict.retryable and (outcome.url in self._given or self._nobody_listens)
        if isinstance(outcome, FetchFailed) and outcome.kind in _OF_THE_NAME:
            host = urlsplit(outcome.url).netloc
            self._ways = deque(url for url in self._ways if urlsplit(url).netloc != host)

    @property
    def _is_settled(self) -> bool:
        """Somebody is there and does not want us: another spelling of the address would be pushing."""
        return any(verdict.status != "dead" for verdict in self._verdicts)

    def verdict(self) -> Triage:
        """What is known after the last way failed."""
        for verdict in self._verdicts:
            if verdict.status != "dead":
                return verdict
        evidence = tuple(dict.fromkeys(line for verdict in self._verdicts for line in verdict.evidence))
        return Triage("dead", evidence or ("there was no time to ask",), self._may_pass or not evidence)
