"""Which businesses are wanted, by what a person would say of them: a town, a kind, a way to reach them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.pipeline.plan.gazetteer import folded_name
from cocli.pipeline.plan.geography import distance_m
from cocli.results.exports.row import sheet_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.models.prospect import Prospect

_METRES = 1000.0


@dataclass(frozen=True, slots=True)
class Circle:
    """All that is within some kilometres of a point."""

    lat: float
    lon: float
    km: float

    @classmethod
    def parse(cls, text: str) -> Circle:
        """`39.8,-89.65,10`: latitude, longitude, kilometres."""
        try:
            lat, lon, km = (float(part) for part in text.split(","))
        except ValueError:
            raise _no_circle(text) from None
        if not (abs(lat) <= 90 and abs(lon) <= 180 and 0 < km < math.inf):
            raise _no_circle(text)
        return cls(lat, lon, km)

    def holds(self, prospect: Prospect) -> bool:
        if prospect.lat is None or prospect.lon is None:
            return False
        return distance_m(self.lat, self.lon, prospect.lat, prospect.lon) <= self.km * _METRES


def _no_circle(text: str) -> UsageError:
    return UsageError(
        reason=f'"{text}" is no circle on the map', hint="Write latitude, longitude and kilometres: 39.8,-89.65,10"
    )


@dataclass(frozen=True, slots=True)
class BusinessFilter:
    """Conditions add up. Where one names several values, one of them is enough; of tags all are needed.

    Texts are compared without case, accents and punctuation.
    """

    cities: Sequence[str] = ()
    categories: Sequence[str] = ()
    """Parts of a category: `plumb` is in `Plumbing service`."""
    tags: Sequence[str] = ()
    statuses: Sequence[str] = ()
    """What a person wrote as `status:` on the company's page."""
    with_email: bool = False
    with_phone: bool = False
    with_website: bool = False
    min_rating: float | None = None
    near: Circle | None = None

    def accepts(self, prospect: Prospect) -> bool:
        return (
            self._is_reachable(prospect)
            and self._is_there(prospect)
            and self._is_of_kind(prospect)
            and set(self.tags) <= set(prospect.tags)
            and (not self.statuses or _is_one_of(sheet_of(prospect).status, self.statuses))
        )

    def _is_reachable(self, prospect: Prospect) -> bool:
        if self.with_email and not (prospect.primary_email or prospect.all_emails):
            return False
        if self.with_phone and not (prospect.phone_e164 or prospect.phone):
            return False
        return not self.with_website or bool(prospect.website)

    def _is_there(self, prospect: Prospect) -> bool:
        if self.cities and not _is_one_of(prospect.city, self.cities):
            return False
        return self.near is None or self.near.holds(prospect)

    def _is_of_kind(self, prospect: Prospect) -> bool:
        if self.min_rating is not None and (prospect.rating is None or prospect.rating < self.min_rating):
            return False
        if not self.categories:
            return True
        names = [folded_name(category) for category in prospect.categories]
        return any(folded_name(wanted) in name for wanted in self.categories for name in names)


def _is_one_of(text: str | None, wanted: Sequence[str]) -> bool:
    return text is not None and folded_name(text) in {folded_name(name) for name in wanted}
