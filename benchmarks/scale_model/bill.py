"""What requests cost at the list prices of S3 Standard in us-east-1, as published in November 2026."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

USD_PER_MILLION = {"put": 5.0, "list": 5.0, "get": 0.4}
"""Deletions are free, also in bulk; an answer of 503 is not charged, one of 412 is."""
USD_PER_GB_MONTH = 0.023


def usd(counts: Mapping[str, int]) -> float:
    return sum(counts.get(kind, 0) * price / 1e6 for kind, price in USD_PER_MILLION.items())
