"""How the parts of this package tell each other that a request ends here. The fetcher turns each into an outcome.

Nothing of this leaves the package, except that a resolver that is passed in raises `Breakdown` through
`no_such_host` and `lookup_failed` of `cocli.pipeline.websites.fetch.resolver`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.pipeline.websites.fetch.outcome import Failure, Reason


class Refusal(Exception):
    """We will not ask."""

    def __init__(self, reason: Reason, detail: str, url: str = "") -> None:
        super().__init__(reason, detail, url)
        self.reason = reason
        self.detail = detail
        self.url = url


class Breakdown(Exception):
    """We asked, or tried to, and there is nothing to read."""

    def __init__(self, kind: Failure, detail: str, *, retry_after: float | None = None, settled: bool = False) -> None:
        """`settled` means that another try at once would come to the same."""
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail
        self.retry_after = retry_after
        self.settled = settled
