"""S3's published limits: so many writes and so many reads per second for each partition of a bucket's keys.

"At least 3,500 PUT/COPY/POST/DELETE or 5,500 GET/HEAD requests per second per partitioned prefix"; beyond that, 503. A
bulk deletion counts as many writes as it has keys. How finely S3 has partitioned a bucket is its own decision, made
while the load grows; here it is a number: keys that agree in their first `depth` parts share one partition.
"""

from __future__ import annotations

from dataclasses import dataclass

WRITES, READS = 3500.0, 5500.0


@dataclass(slots=True)
class Allowance:
    """A token bucket that holds one second's worth."""

    rate: float
    left: float
    at: float = 0.0

    def take(self, now: float, amount: float) -> bool:
        self.left = min(self.rate, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left < amount:
            return False
        self.left -= amount
        return True


class PrefixRates:
    """`depth` 0: the bucket is one partition, as a new one is. 6: each of the 16 shards of a queue's folders is one."""

    def __init__(self, *, depth: int = 0, writes: float = WRITES, reads: float = READS) -> None:
        self._depth = depth
        self._rates = {True: writes, False: reads}
        self._allowances: dict[tuple[str, bool], Allowance] = {}

    def allows(self, key: str, now: float, *, write: bool, amount: float = 1.0) -> bool:
        place = ("/".join(key.split("/", self._depth)[: self._depth]), write)
        allowance = self._allowances.get(place)
        if allowance is None:
            rate = self._rates[write]
            allowance = self._allowances[place] = Allowance(rate, rate, now)
        return allowance.take(now, amount)

    @property
    def partitions(self) -> int:
        """How many were used."""
        return len({place for place, _ in self._allowances})
