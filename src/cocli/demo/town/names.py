"""Invented names: of families, companies and people. None is meant to be anybody's."""

from __future__ import annotations

import re
import unicodedata
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from cocli.demo.town.trades import Trade

_FIRST_HALVES = (
    *("Bram", "Cald", "Dorn", "Elv", "Farl", "Grend", "Hask", "Ingl", "Jorv", "Kelm", "Lorn", "Mard", "Nesk", "Orm"),
    *("Pell", "Quist", "Rusk", "Selw", "Tolv", "Ulm", "Varn", "Wend", "Yarl", "Zell", "Brix", "Crosk", "Dunv", "Fenw"),
)
_SECOND_HALVES = (
    *("erne", "acott", "ingale", "overt", "imond", "achet", "ordale", "ester", "ivane", "unsey", "andry", "eleth"),
    *("iford", "amble", "othwen", "urrell", "ickstone", "averly", "ondale", "eprick", "ullen", "arrow", "inthorpe"),
)
_GIVEN = (
    *("Ada", "Bela", "Corin", "Dara", "Edwin", "Fenna", "Goran", "Hilda", "Ivo", "Jorah", "Katla", "Leif", "Mira"),
    *("Nils", "Orla", "Piet", "Rhona", "Sven", "Tilda", "Ulric", "Vera", "Wanda", "Yorick", "Zora"),
)
_TRIES = 50
"""So often a name of one family is drawn for a business. A trade has some thousand of them."""


class NameGiver:
    """Gives each business a name of its own, and each site a domain of its own."""

    def __init__(self, random: Random, names: Iterable[str] = (), domains: Iterable[str] = ()) -> None:
        """`names` and `domains` are given out already."""
        self._random = random
        self._names: set[str] = set(names)
        self._domains: set[str] = set(domains)

    def family(self) -> str:
        return self._random.choice(_FIRST_HALVES) + self._random.choice(_SECOND_HALVES)

    def business(self, trade: Trade) -> str:
        """Of one family; once a big town has no such name left, of two."""
        for tries in count():
            families = self.family() if tries < _TRIES else f"{self.family()} & {self.family()}"
            name = f"{families} {self._random.choice(trade.words)}"
            if name not in self._names:
                self._names.add(name)
                return name
        raise AssertionError("a count has no end")

    def person(self) -> tuple[str, str]:
        return self._random.choice(_GIVEN), self.family()

    def domain(self, name: str, suffix: str = "com") -> str:
        """`tolverne-dental.com`, or a longer one where another business was first."""
        stem = slug(name)
        for extra in ("", "-ks", "-harrowmere", "-online", "-plains"):
            domain = f"{stem}{extra}.{suffix}"
            if domain not in self._domains:
                self._domains.add(domain)
                return domain
        raise ValueError(f"too many businesses are called {name}")


def slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower().replace("&", " and ")
    return "-".join(re.findall(r"[a-z0-9]+", plain))
