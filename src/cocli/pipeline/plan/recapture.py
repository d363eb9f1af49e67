"""How many there are, from two passes that met some of the same: Chapman's estimator of capture and recapture.

It holds where the two passes are independent and every place is as likely to be met as any other. Search results are
not quite so: the same popular places come first in both, so the truth is rather above the estimate than below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z95 = 1.959964


@dataclass(frozen=True, slots=True)
class Population:
    """An estimate, with the interval that holds the truth in 95 of 100 cases. Never below what was seen."""

    seen: int
    """Different places that the two passes found together."""
    total: float
    low: float
    high: float

    @property
    def missing(self) -> float:
        return self.total - self.seen

    @property
    def completeness(self) -> float:
        """The share of what there is that was seen."""
        if self.total:
            return self.seen / self.total
        return 1.0


def chapman(first: int, second: int, both: int) -> Population:
    """`first` and `second`: places that a pass found; `both`: those that both did."""
    if not 0 <= both <= min(first, second):
        raise ValueError(f"{both} of {first} and {second} places cannot be the same")
    seen = first + second - both
    total = (first + 1) * (second + 1) / (both + 1) - 1
    unseen = total - seen
    if unseen <= 0:
        return Population(seen, float(seen), float(seen), float(seen))
    variance = (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))
    # Of the number that nobody saw the logarithm is nearly normal: so the interval never begins below what was seen.
    factor = math.exp(_Z95 * math.sqrt(math.log1p(variance / unseen**2)))
    return Population(seen, total, seen + unseen / factor, seen + unseen * factor)


def summed(populations: list[Population]) -> Population | None:
    """Of several tiles together. The intervals are added in squares, because the passes do not depend on each other."""
    if not populations:
        return None
    seen, total = (
        sum(population.seen for population in populations),
        sum(population.total for population in populations),
    )
    below = math.sqrt(sum((population.total - population.low) ** 2 for population in populations))
    above = math.sqrt(sum((population.high - population.total) ** 2 for population in populations))
    return Population(seen, total, max(float(seen), total - below), total + above)
