"""A list whose order means nothing: sorted and without repeats, so that equal sets are equal records."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field

_T = TypeVar("_T", bound=str)


def _sorted(values: tuple[_T, ...]) -> tuple[_T, ...]:
    return tuple(sorted(set(values)))


Unordered = Annotated[tuple[_T, ...], Field(strict=False), AfterValidator(_sorted)]
"""A set of texts in a file: what two records have of it is united, whoever comes first."""
