"""A catalogue whose file is damaged: is it, and out of the way with it. What was in it is made anew from the store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cocli.documents.catalog.opening import open_catalog, sqlite_path
from cocli.errors import CatalogError, CatalogUnavailable

if TYPE_CHECKING:
    from datetime import datetime

_BESIDE = ("", "-wal", "-shm")
_ALL = 1_000_000


def damage_of(url: str) -> str | None:
    """What is wrong with the catalogue at an address; None where all of it can be read, or where there is none yet.

    Reads the whole file. `CatalogUnavailable` where the machine around it is at fault, which no rebuild mends.
    """
    path = sqlite_path(url)
    if path is not None and not os.path.exists(path):
        return None
    try:
        catalog = open_catalog(url)
        try:
            catalog.check()
        finally:
            catalog.close()
    except CatalogUnavailable:
        raise
    except CatalogError as error:
        return str(error.details["reason"])
    return None


def set_aside(url: str, now: datetime) -> str | None:
    """Give a catalogue's file, and what SQLite keeps beside it, another name; the name. None where it is no file."""
    path = sqlite_path(url)
    if path is None:
        return None
    aside = f"{path}.broken-{now:%Y%m%dT%H%M%SZ}"
    for ending in _BESIDE:
        if os.path.exists(path + ending):
            os.replace(path + ending, aside + ending)
    return aside
