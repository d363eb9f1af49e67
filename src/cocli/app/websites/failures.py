"""The book in which a process of this machine counts on which websites of a campaign extractors fail."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cocli.config.version import __version__
from cocli.pipeline.websites.site.failure_book import FailureBook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.store.base import Store


@contextmanager
def opened_failures(store: Store, campaign: str) -> Iterator[FailureBook]:
    """At the end it is written down, so that a worker of a few sites raises its alarm, too."""
    book = FailureBook(store, campaign, socket.gethostname(), version=__version__, clock=store.now)
    try:
        yield book
    finally:
        book.flush()
