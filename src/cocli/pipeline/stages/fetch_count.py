"""Counts what visits ask for: how many wait for a page now, and how many got no answer in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.websites.fetch.outcome import Failure, FetchFailed

if TYPE_CHECKING:
    from cocli.pipeline.websites.fetch.outcome import Outcome, Validators
    from cocli.pipeline.websites.site.site import PageFetch


class CountedFetch:
    """Fits `site.PageFetch`."""

    def __init__(self, fetch: PageFetch) -> None:
        self._fetch = fetch
        self.requests = 0
        self.timeouts = 0
        self.fetching = 0

    async def __call__(self, url: str, *, validators: Validators | None = None) -> Outcome:
        self.fetching += 1
        is_late = True  # whoever waited too long is cancelled
        try:
            outcome = await self._fetch(url, validators=validators)
            is_late = isinstance(outcome, FetchFailed) and outcome.kind is Failure.TIMEOUT
        finally:
            self.fetching -= 1
            self.requests += 1
            self.timeouts += is_late
        return outcome
