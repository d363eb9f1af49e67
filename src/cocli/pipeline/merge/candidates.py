"""Under which keys a business is kept, and where to look for those that may be the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.merge.names import name_parts, without_towns
from cocli.pipeline.plan.geography import cell_of, cells_around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cocli.pipeline.merge.known import Known

_PHONE_KEY_DIGITS = 7


class TownIndex:
    """Businesses by their town, for rows that know a street and neither position nor postcode.

    Few rows are so. A town is put in order when the first of them asks; until then a list costs next to nothing.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Known]] = {}
        self._ordered: dict[str, dict[int, list[Known]]] = {}

    def add(self, known: Known) -> None:
        if not known.city or not known.street:
            return
        if (ordered := self._ordered.get(known.city)) is not None:
            _put(ordered, known)
        else:
            self._waiting.setdefault(known.city, []).append(known)

    def find(self, known: Known) -> Iterator[Known]:
        """Who has its name, phone or domain in its town."""
        ordered = self._ordered.get(known.city)
        if ordered is None:
            ordered = self._ordered[known.city] = {}
            for waiting in self._waiting.pop(known.city, ()):
                _put(ordered, waiting)
        for key in _keys_at(known, [known.city]):
            yield from ordered.get(key, ())


def _put(ordered: dict[int, list[Known]], known: Known) -> None:
    for key in _keys_at(known, [known.city]):
        ordered.setdefault(key, []).append(known)


def keys_of_domain(known: Known) -> tuple[int, ...]:
    if not known.domain:
        return ()
    return key_of_domain(known, with_name=False), key_of_domain(known, with_name=True)


def key_of_domain(known: Known, *, with_name: bool) -> int:
    return hash((known.domain, known.name) if with_name else (known.domain,))


def keys_of(known: Known) -> Iterator[int]:
    """Where a prospect is kept: under domain, name and phone, each with its cell and with its postcode."""
    return _keys_at(known, _places(known, lambda lat, lon: (cell_of(lat, lon),)))


def keys_to_look_at(known: Known) -> Iterator[int]:
    """Where those are kept that may be the same: also in the cells around its own."""
    return _keys_at(known, _places(known, cells_around))


def _places(known: Known, cells: Callable[[float, float], Iterable[object]]) -> list[object]:
    places: list[object] = []
    if known.lat is not None and known.lon is not None:
        places.extend(cells(known.lat, known.lon))
    if known.street and known.postcode:
        places.append(known.postcode)
    return places


def _keys_at(known: Known, places: list[object]) -> Iterator[int]:
    # One name is written in several orders and scripts: it is kept under the words that tell, sorted.
    every = list(name_parts(known.name).words)
    words = without_towns(every, known.city) or every
    names = {"".join(words), "".join(sorted(words))} if words else {known.name}
    for place in places:
        if known.domain:
            yield hash((0, known.domain, place))
        if known.name:
            yield from (hash((1, name, place)) for name in names)
        if len(known.phone) >= _PHONE_KEY_DIGITS:
            yield hash((2, known.phone[-_PHONE_KEY_DIGITS:], place))
