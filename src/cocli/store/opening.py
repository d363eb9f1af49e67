"""From an address to a store.

open_store("/srv/cocli")                                   a folder (also file:///srv/cocli and ~/cocli)
open_store("s3://bucket/prefix?endpoint=http://nas:8333")  any server that speaks S3
open_store("memory://")                                    this process's memory
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.store.addresses import without_secrets
from cocli.store.kinds import opener_of

if TYPE_CHECKING:
    from cocli.store.base import Store
    from cocli.store.local import Fsync


def open_store(url: str, *, fsync: Fsync = "always") -> Store:
    """Open the store at an address. Nothing is sent to a server yet; a folder is created if it is not there."""
    return opener_of(url, without_secrets(url))(url, fsync)
