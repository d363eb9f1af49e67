"""Pages from the network, politely and safely.

    async with Fetcher(Settings.of(config.fetch)) as fetcher:
        outcome = await fetcher.fetch("https://example.com/")       # Fetched | NotModified | Refused | Failed
        if isinstance(outcome, Fetched):
            repository.save(page_document(outcome, account="acme"))

What lives where:

- `fetcher`: `Fetcher(settings, *, resolve=None, time=None, random=None, tls=None, paces=None)`; the order of things.
- `outcome`: the four verdicts. A site never causes an exception.
- `settings`, `limits`, `request`: how a fetcher behaves, how much it takes, what differs for robots.txt and parts.
- `urls`: an address, read as browsers do. `guard`: which addresses may be asked. `resolver`: from names to addresses.
- `known`: what is remembered for a while: looked up names, who took no connection, sessions of TLS.
- `network`: judges and connects in one step. `connections`, `http`, `decoder`: one request within bounds.
- `robots`, `politeness`, `retries`: may we, when, and again?
- `pace`: the table of who may be asked when, shared by the processes of a machine; the time that a visit has left.
- `journey`: redirects and the wording of outcomes. `capture`: a page and its document.
- `browser` (extra `browser`): what a script makes of a page that is empty without it.

Which pages of a site are worth reading is `cocli.pipeline.websites.site.site`'s matter.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.pipeline.websites.fetch.capture import page_document, page_of, validators_of
    from cocli.pipeline.websites.fetch.fetcher import Fetcher
    from cocli.pipeline.websites.fetch.outcome import (
        Failure,
        Fetched,
        FetchFailed,
        Hop,
        NotModified,
        Outcome,
        Reason,
        Refused,
        Validators,
    )
    from cocli.pipeline.websites.fetch.pace.table import PaceTable, open_pace_table
    from cocli.pipeline.websites.fetch.resolver import Endpoint, Resolve, lookup_failed, no_such_host
    from cocli.pipeline.websites.fetch.settings import FetchSettings

__all__ = [
    "Endpoint",
    "Failure",
    "FetchFailed",
    "FetchSettings",
    "Fetched",
    "Fetcher",
    "Hop",
    "NotModified",
    "Outcome",
    "PaceTable",
    "Reason",
    "Refused",
    "Resolve",
    "Validators",
    "lookup_failed",
    "no_such_host",
    "open_pace_table",
    "page_document",
    "page_of",
    "validators_of",
]

_HOMES = {
    "Endpoint": "cocli.pipeline.websites.fetch.resolver",
    "Failure": "cocli.pipeline.websites.fetch.outcome",
    "FetchFailed": "cocli.pipeline.websites.fetch.outcome",
    "FetchSettings": "cocli.pipeline.websites.fetch.settings",
    "Fetched": "cocli.pipeline.websites.fetch.outcome",
    "Fetcher": "cocli.pipeline.websites.fetch.fetcher",
    "Hop": "cocli.pipeline.websites.fetch.outcome",
    "NotModified": "cocli.pipeline.websites.fetch.outcome",
    "Outcome": "cocli.pipeline.websites.fetch.outcome",
    "PaceTable": "cocli.pipeline.websites.fetch.pace.table",
    "Reason": "cocli.pipeline.websites.fetch.outcome",
    "Refused": "cocli.pipeline.websites.fetch.outcome",
    "Resolve": "cocli.pipeline.websites.fetch.resolver",
    "Validators": "cocli.pipeline.websites.fetch.outcome",
    "lookup_failed": "cocli.pipeline.websites.fetch.resolver",
    "no_such_host": "cocli.pipeline.websites.fetch.resolver",
    "open_pace_table": "cocli.pipeline.websites.fetch.pace.table",
    "page_document": "cocli.pipeline.websites.fetch.capture",
    "page_of": "cocli.pipeline.websites.fetch.capture",
    "validators_of": "cocli.pipeline.websites.fetch.capture",
}


def __getattr__(name: str) -> object:
    """Loaded when it is asked for: who reads a page that is there needs nothing that asks the network."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
