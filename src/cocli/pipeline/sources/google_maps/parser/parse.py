"""From a saved document to places: a pure function. JSON answers first, the embedded state next, the page last."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cocli.errors import DocumentInvalid
from cocli.keys.identities import is_place_id, normalised
from cocli.pipeline.sources.google_maps.documents import answers_of, asked_of, page_of
from cocli.pipeline.sources.google_maps.parser.answers import MapsAnswer, read_answer
from cocli.pipeline.sources.google_maps.parser.init_state import InitState, only_place, read_state
from cocli.pipeline.sources.google_maps.parser.links import read_address
from cocli.pipeline.sources.google_maps.parser.nothing_found import says_nothing_found
from cocli.pipeline.sources.google_maps.parser.sighting import (
    Circumstances,
    Sighting,
    SightingIdentity,
    identify,
    merge,
    to_place,
)
from cocli.pipeline.sources.google_maps.parser.tree import parse_html, saved_from
from cocli.pipeline.sources.google_maps.parser.verdicts import ShownPage, Verdict, look

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.documents import Document
    from cocli.models.place import Place
    from cocli.pipeline.sources.google_maps.parser.details_dom import Panel

_READABLE = ("list", "single", "limited_view", "shell", "error")
"""Pages whose JSON is read. A block, a question for consent and an area hold no places, whatever else is in them."""


@dataclass(frozen=True, slots=True)
class MapsReading:
    """What a document says, and what kind of page it is."""

    verdict: Verdict
    places: tuple[Place, ...]


def parse(document: Document) -> list[Place]:
    """The places of a document, each once, in the order in which they were shown."""
    return list(read(document).places)


def judge(document: Document) -> Verdict:
    """What kind of page a document holds."""
    return read(document).verdict


def read(document: Document) -> MapsReading:
    """Places and verdict together, for what the work of parsing once is enough."""
    if document.source.fetched_at is None:
        raise DocumentInvalid(doc=document.doc, reason="it does not say when it was fetched")
    html = page_of(document)
    answers = [read_answer(body) for body in answers_of(document)]
    url = document.source.uri or saved_from(html)
    tile, phrase, place_id = asked_of(document)
    listed = place_id is None
    tree = parse_html(html)
    shown = look(tree, url=url, status=document.source.http_status, single=not listed)
    state = read_state(html) if shown.verdict.kind in _READABLE else InitState()
    if shown.panel is not None and state.echo is None:
        state = replace(state, echo=only_place(html))
    opened = _opened(url, place_id)
    sightings = _sightings(answers, state, shown, opened)
    if not listed:
        sightings = [
            sighting for sighting in sightings if opened.identity is None or _same(sighting.identity, opened.identity)
        ][:1]
    around = Circumstances(document.source.fetched_at, document.uuid, phrase, tile)
    places = [
        place
        for rank, sighting in enumerate(sightings, start=1)
        if (place := to_place(sighting, around, rank if listed else None))
    ]
    verdict = _verdict(shown.verdict, answers, state, places)
    if verdict.kind == "shell" and says_nothing_found(tree, url, phrase):
        verdict = Verdict("empty", "Maps says that it finds nothing", end_seen=True)
    return MapsReading(verdict, tuple(places))


@dataclass(frozen=True, slots=True)
class _Opened:
    """The place that a page was opened for, as far as that is known from outside of it."""

    identity: SightingIdentity | None
    lat: float | None = None
    lon: float | None = None


def _opened(url: str, place_id: str | None) -> _Opened:
    """The place that the browser stood at, by the address, or that was asked for."""
    link = read_address(url)
    identity = identify(place_id=link.place_id, feature_id=link.feature_id, kgmid=link.kgmid)
    if identity is None and place_id and is_place_id(place_id):
        identity = identify(place_id=place_id)
    return _Opened(identity, link.lat, link.lon)


def _sightings(answers: list[MapsAnswer], state: InitState, shown: ShownPage, opened: _Opened) -> list[Sighting]:
    if shown.verdict.kind not in _READABLE:
        return []
    listed = sum(len(answer.sightings) for answer in (*answers, *state.answers) if answer.kind == "list")
    if not shown.cards and (shown.panel is not None or not listed) and listed < 2:
        return _of_one(answers, state, shown, opened)
    organic = [card for card in shown.cards if not card.sponsored]
    advertised = [card for card in shown.cards if card.sponsored]
    said = [sighting for answer in answers if answer.kind == "list" for sighting in answer.sightings]
    # An advertisement rounds the point and may write the address in another way: the ordinary card goes first.
    merged = merge([*said, *_still_true(state, shown), *organic, *advertised])
    return _in_order_of(merged, [*shown.cards, *said])


def _still_true(state: InitState, shown: ShownPage) -> list[Sighting]:
    """The embedded state is of the first question. Where the page shows none of its places, it has moved on since."""
    said = [sighting for answer in state.answers for sighting in answer.sightings]
    if not shown.cards:
        return said
    visible = {key for card in shown.cards for key in card.identity.keys}
    if any(not visible.isdisjoint(sighting.identity.keys) for sighting in said):
        return said
    return []


def _in_order_of(sightings: list[Sighting], order: Iterable[Sighting]) -> list[Sighting]:
    rank: dict[str, int] = {}
    for number, sighting in enumerate(order):
        for key in sighting.identity.keys:
            rank.setdefault(key, number)
    last = len(rank)
    return sorted(
        sightings, key=lambda sighting: min((rank.get(key, last) for key in sighting.identity.keys), default=last)
    )


# --- the page of one place


def _of_one(answers: list[MapsAnswer], state: InitState, shown: ShownPage, opened: _Opened) -> list[Sighting]:
    said = [sighting for answer in (*answers, *state.answers) for sighting in answer.sightings]
    if opened.identity is not None:
        said = [sighting for sighting in said if _same(sighting.identity, opened.identity)]
    elif shown.panel is not None:
        said = [sighting for sighting in said if _is_of(sighting, shown.panel)]
    seen = _panel_sighting(state, shown, opened, said)
    return merge([*said, *seen])[:1]


def _is_of(sighting: Sighting, panel: Panel) -> bool:
    """Whether an answer is about the place of the panel: the page may have moved on since."""
    if _alike(sighting.name, panel.name):
        return True
    return any(
        name in panel.values and sighting.values.get(name) == panel.values[name] for name in ("phone", "website")
    )


def _same(identity: SightingIdentity, other: SightingIdentity) -> bool:
    return not set(identity.keys).isdisjoint(other.keys)


def _panel_sighting(state: InitState, shown: ShownPage, opened: _Opened, said: list[Sighting]) -> list[Sighting]:
    """What the panel shows, under the identity that the page was opened with."""
    panel = shown.panel
    if panel is None or not panel.is_business:
        return []
    known = [place for place in (_at(opened, panel), _at(_echoed(state, panel), panel)) if place is not None]
    if len(known) == 2 and not _same(known[0].identity, known[1].identity):
        known.pop()  # the state is of an earlier place
    if not known and said:
        known = [Sighting(said[0].identity, panel.name, panel.values)]
    return merge(known)


def _at(opened: _Opened, panel: Panel) -> Sighting | None:
    if opened.identity is None:
        return None
    where = {"lat": opened.lat, "lon": opened.lon} if opened.lat is not None else {}
    return Sighting(opened.identity, panel.name, {**where, **panel.values})


def _echoed(state: InitState, panel: Panel) -> _Opened:
    """What the state repeats of the question, where that was for the place of the panel."""
    echo = state.echo
    if echo is None or (echo.name is not None and not _alike(echo.name, panel.name)):
        return _Opened(None)
    identity = identify(place_id=echo.place_id, feature_id=echo.feature_id, kgmid=echo.kgmid)
    return _Opened(identity, echo.lat, echo.lon)


def _alike(name: str, other: str) -> bool:
    """Whether two names share a word: one may be written with more of them, or in another spelling."""
    first, second = set(normalised(name).split()), set(normalised(other).split())
    return bool(first & second) or normalised(name) == normalised(other)


# --- the verdict, with what only JSON says


def _verdict(shown: Verdict, answers: list[MapsAnswer], state: InitState, places: list[Place]) -> Verdict:
    """A page that shows nothing yet may have received its places already."""
    if shown.kind not in ("shell", "error"):
        return shown
    if places:
        single = any(answer.kind == "single" for answer in (*answers, *state.answers)) and len(places) == 1
        return Verdict("single" if single else "list", f"{len(places)} places in the answers, none shown yet")
    if any(answer.messages for answer in (*answers, *state.answers)):
        return Verdict("area", "the answers hold places that are no businesses")
    return shown
