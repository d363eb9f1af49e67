"""A site on loopback that behaves like the map's list and place pages towards a real browser."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qs, quote, unquote_plus

from cocli.demo.town.http_server import LOOPBACK, Asked, TownAnswer, running
from cocli.demo.town.maps.pages import (
    CONSENT_PATH,
    consent_page,
    empty_page,
    error_page,
    json_body,
    list_page,
    place_page,
    sorry_page,
)
from cocli.demo.town.maps.search import TownSearch, advertised, answer_of, matches, read_pb
from cocli.keys.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cocli.demo.town.business import Business
    from cocli.demo.town.town import Town

Condition = Literal["ordinary", "limited", "sorry", "error"]
_SEARCH = re.compile(r"/maps/search/([^/]+)/@(-?[0-9.]+),(-?[0-9.]+),([0-9.]+)z")
_FEATURE = re.compile(r"!1s(0x[0-9a-f]+:0x[0-9a-f]+)|!19s([A-Za-z0-9_-]{27})|place_id:([A-Za-z0-9_-]{27})")
_COOKIE = "SOCS=CAESHAgB"


@dataclass(frozen=True, slots=True)
class MapsRequest:
    """What the site was asked. A page of results is `search`, what it loads while it is scrolled is `answer`."""

    kind: Literal["search", "answer", "place", "consent", "sorry"]
    at: float
    search: TownSearch | None = None
    offset: int = 0
    place_id: str | None = None


@dataclass(frozen=True, slots=True)
class MapsBehaviour:
    """How the site behaves; the default is well."""

    cap: int = 120
    """The most places of one search. A longer list has no end to be seen."""
    sponsored: int = 2
    """How many of the places stand above the list once more, as advertisements."""
    consent: bool = False
    """Whether a visitor without the cookie is asked first."""
    language: str = "en"
    """Of consent page and end marker: one of `maps_pages.CONSENT_WORDS`."""
    condition: Callable[[TownSearch, int], Condition] = lambda _search, _asked: "ordinary"
    """By the search, and by how many pages and answers were asked for before."""
    latency: float = 0.0


def by_tile(conditions: dict[str, Condition]) -> Callable[[TownSearch, int], Condition]:
    """Conditions for the searches whose centre is in a tile; the others are ordinary."""

    def condition(search: TownSearch, _asked: int) -> Condition:
        return conditions.get(str(Tile.containing(search.lat, search.lon)), "ordinary")

    return condition


@dataclass(slots=True)
class MapsSite:
    """The running site."""

    town: Town
    behaviour: MapsBehaviour
    port: int = 0
    requests: list[MapsRequest] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def search_url(self, phrase: str, lat: float, lon: float, zoom: float = 13) -> str:
        return f"{self.url}/maps/search/{quote(phrase)}/@{lat},{lon},{zoom:g}z?hl=en"

    @property
    def searches(self) -> list[TownSearch]:
        """The pages of results that were asked for, in order."""
        return [request.search for request in self.requests if request.kind == "search" and request.search]

    async def answer(self, asked: Asked) -> TownAnswer:
        await asyncio.sleep(self.behaviour.latency)
        if asked.path.startswith(CONSENT_PATH):
            if asked.path == f"{CONSENT_PATH}save":
                return _consented(asked)
            return self._consent(asked)
        if asked.path.startswith("/sorry"):
            self.requests.append(MapsRequest("sorry", asked.at))
            return _html(sorry_page(asked.query.get("continue", "/")), 429)
        if self.behaviour.consent and "SOCS=" not in asked.headers.get("cookie", "") and asked.path.startswith("/maps"):
            return _redirect(f"{CONSENT_PATH}m?continue={quote(asked.target, safe='')}&hl={self.behaviour.language}")
        if asked.path.startswith("/maps/search/"):
            return self._list(asked)
        if asked.path == "/search" and asked.query.get("tbm") == "map":
            return self._more(asked)
        if asked.path.startswith("/maps/place"):
            return self._place(asked)
        return _html("<!DOCTYPE html><title>Not found</title>", 404)

    def _consent(self, asked: Asked) -> TownAnswer:
        self.requests.append(MapsRequest("consent", asked.at))
        return _html(consent_page(self.behaviour.language, asked.query.get("continue", "/maps")))

    def _list(self, asked: Asked) -> TownAnswer:
        # The path came unquoted, but a plus stands for a space in it as well.
        found = _SEARCH.match(asked.path)
        if found is None:
            return _html("<!DOCTYPE html><title>Not found</title>", 404)
        phrase, lat, lon, zoom = found.groups()
        search = TownSearch(unquote_plus(phrase), float(lat), float(lon), float(zoom))
        condition = self._note(MapsRequest("search", asked.at, search), search)
        if refusal := _refusal(condition, asked):
            return refusal
        results = matches(self.town, search)
        language = self.behaviour.language
        if not results:
            return _html(empty_page(search, language=language))
        if len(results) == 1:
            return _redirect(_place_path(results[0]))
        ads = advertised(results[: self.behaviour.cap], self.behaviour.sponsored)
        return _html(list_page(self.town, search, ads, language=language, limited=condition == "limited"))

    def _more(self, asked: Asked) -> TownAnswer:
        read = read_pb(asked.query.get("q", ""), asked.query.get("pb", ""))
        if read is None:
            return TownAnswer(400, {"Content-Type": "text/plain"}, b"no point in pb\n")
        search, offset = read
        condition = self._note(MapsRequest("answer", asked.at, search, offset), search)
        if refusal := _refusal(condition, asked):
            return refusal
        limited = condition == "limited"
        results = matches(self.town, search)
        body = answer_of(self.town, search, results, offset, self.behaviour.cap, limited=limited)
        return TownAnswer(200, {"Content-Type": "application/json; charset=UTF-8"}, json_body(body))

    def _place(self, asked: Asked) -> TownAnswer:
        business = self._business(asked.target.replace("%3A", ":").replace("%21", "!"))
        if business is None:
            return _html("<!DOCTYPE html><title>Not found</title>", 404)
        search = TownSearch(business.name, business.spot.lat, business.spot.lon, 17.0)
        condition = self._note(MapsRequest("place", asked.at, place_id=business.place_id), search)
        if refusal := _refusal(condition, asked):
            return refusal
        limited = condition == "limited"
        return _html(place_page(self.town, business, language=self.behaviour.language, limited=limited))

    def _business(self, target: str) -> Business | None:
        found = _FEATURE.search(target)
        wanted = None
        if found:
            wanted = next((group for group in found.groups() if group), None)
        known = (business for business in self.town.businesses if "google-maps" in business.sources)
        return next((business for business in known if wanted in (business.feature_id, business.place_id)), None)

    def _note(self, request: MapsRequest, search: TownSearch) -> Condition:
        condition = self.behaviour.condition(search, len(self.requests))
        self.requests.append(request)
        return condition


def _place_path(business: Business) -> str:
    spot = business.spot
    return (
        f"/maps/place/{quote(business.name)}/data=!4m7!3m6!1s{business.feature_id}!8m2!3d{spot.lat}!4d{spot.lon}"
        f"!16s{quote(business.kgmid, safe='')}!19s{business.place_id}?authuser=0&hl=en&rclk=1"
    )


def _refusal(condition: Condition, asked: Asked) -> TownAnswer | None:
    if condition == "sorry":
        return _redirect(f"/sorry/index?continue={quote(asked.target, safe='')}")
    if condition == "error":
        return _html(error_page(), 500)
    return None


def _consented(asked: Asked) -> TownAnswer:
    goes_on = parse_qs(asked.body.decode("utf-8", "replace")).get("continue", ["/maps"])[0]
    headers = {"Location": goes_on if goes_on.startswith("/") else "/maps", "Set-Cookie": f"{_COOKIE}; Path=/"}
    return TownAnswer(303, headers)


def _redirect(location: str) -> TownAnswer:
    return TownAnswer(302, {"Location": location})


def _html(text: str, status: int = 200) -> TownAnswer:
    return TownAnswer(status, {"Content-Type": "text/html; charset=UTF-8"}, text.encode())


@contextlib.contextmanager
def serve_maps(town: Town, behaviour: MapsBehaviour | None = None, *, port: int = 0) -> Iterator[MapsSite]:
    """Run the site until the block ends."""
    site = MapsSite(town, behaviour or MapsBehaviour())
    with running(site.answer, port, "town-maps") as site.port:
        yield site
