"""A task that waited in an older queue → a task of today's queue of the same name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cocli.errors import DataError, IdentityError
from cocli.keys.identities import registrable_domain
from cocli.keys.tile import Tile
from cocli.models.record import explain
from cocli.models.work import DetailsWork, EnrichmentWork, ListWork
from cocli.pipeline.plan.mission import task_id
from cocli.queue.base import NewTask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from cocli.pipeline.migrate.row import Context

OLDER_QUEUES = ("gm-list", "gm-details", "enrichment")


def converted_task(queue: str, data: bytes, context: Context, sources: Sequence[str]) -> NewTask:
    """A `DataError` with the reason where nobody could do it. A search asks today's sources of the campaign."""
    try:
        payload = json.loads(data)
        if not isinstance(payload, dict):
            raise DataError(reason="no object")
        return _BY_QUEUE[queue](payload, context, sources)
    except (ValueError, KeyError, TypeError, IdentityError) as error:
        reason = explain(error) if isinstance(error, ValidationError) else str(error)
        raise DataError(reason=f"no task of {queue}: {reason[:200]}") from error


def _search(payload: Mapping[str, Any], context: Context, sources: Sequence[str]) -> NewTask:
    named = str(payload.get("tile_id") or "").replace("/", "_").split("_")
    if len(named) == 2:
        tile = Tile.parse(named[0], named[1])
    else:
        tile = Tile.containing(float(payload["latitude"]), float(payload["longitude"]))
    phrase = context.phrase_of(str(payload["search_phrase"]).strip())
    work = ListWork(tile=tile, phrase=phrase, sources=tuple(sources))
    return NewTask(task_id(str(tile), phrase), work.model_dump(mode="json"))


def _details(payload: Mapping[str, Any], context: Context, sources: Sequence[str]) -> NewTask:  # noqa: ARG001
    phrase = payload.get("discovery_phrase")
    work = DetailsWork(
        place_id=payload["place_id"],
        name=payload.get("name") or None,
        phrase=context.phrase_of(phrase) if phrase else None,
    )
    return NewTask(work.place_id, work.model_dump(mode="json"))


def _website(payload: Mapping[str, Any], context: Context, sources: Sequence[str]) -> NewTask:  # noqa: ARG001
    domain = registrable_domain(str(payload["domain"]))
    work = EnrichmentWork(domain=domain, url=f"https://{domain}/")
    return NewTask(domain, work.model_dump(mode="json"))


_BY_QUEUE = {"gm-list": _search, "gm-details": _details, "enrichment": _website}
