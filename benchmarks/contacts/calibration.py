"""Whether confidences mean what they say: of the addresses given 0.9, nine in ten are the firm's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The addresses whose confidence lies between two tenths."""

    low: float
    high: float
    count: int
    said: float
    """The mean confidence."""
    right: float
    """The share that is right."""


def reliability(judged: Sequence[tuple[float, bool]]) -> list[Bin]:
    """The reliability table. A confidence on an edge belongs to the upper bin, 1.0 to the last."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for confidence, good in judged:
        bins[min(int(confidence * BINS + 1e-9), BINS - 1)].append((confidence, good))
    return [
        Bin(
            number / BINS,
            (number + 1) / BINS,
            len(rows),
            sum(confidence for confidence, _ in rows) / len(rows),
            sum(good for _, good in rows) / len(rows),
        )
        for number, rows in enumerate(bins)
        if rows
    ]


def calibration_error(judged: Sequence[tuple[float, bool]]) -> float | None:
    """The expected calibration error: how far said and right are apart, each bin by its share. None without any."""
    if not judged:
        return None
    return sum(row.count / len(judged) * abs(row.said - row.right) for row in reliability(judged))
