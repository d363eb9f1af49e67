"""What was published last, as it is kept with the campaign. Reading it loads nothing that publishing needs."""

from __future__ import annotations

import socket
from datetime import timedelta
from typing import TYPE_CHECKING

from cocli.app.workspace import location
from cocli.errors import FormatError, NotFound
from cocli.formats import json_records
from cocli.keys.paths import ExportKey
from cocli.models.publication import Publication

if TYPE_CHECKING:
    from cocli.store.base import Store


def publication_key(campaign: str) -> str:
    return str(ExportKey(campaign, "published.json"))


def read_publication(store: Store, campaign: str) -> Publication | None:
    """What was published last; None where nothing was."""
    key = publication_key(campaign)
    try:
        return json_records.read(Publication, store.get(key).data, file=location(store, key))
    except (NotFound, FormatError):  # of another version, or damaged: the next publication replaces it
        return None


def is_ours(publication: Publication) -> bool:
    """Whether this machine reaches the place: a folder is of one machine."""
    return publication.host is None or publication.host == socket.gethostname()


def is_expiring(publication: Publication, age: timedelta) -> bool:
    """Whether half of the time of its signed links is over."""
    return publication.links == "signed" and age * 2 > timedelta(seconds=publication.valid_seconds)


def needs_renewal(store: Store, campaign: str) -> bool:
    """Whether links end soon, whatever else has changed or not. One object is asked for."""
    last = read_publication(store, campaign)
    return last is not None and is_ours(last) and is_expiring(last, store.now() - last.at)
