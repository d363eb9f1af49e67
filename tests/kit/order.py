"""In which order the tests run: those that wait for seconds run while others compute, and none of them at the end.

A test, or a module by `pytestmark`, says so with `@pytest.mark.waits`. Every worker of a parallel run begins with a
share of the list as it stands, and takes from the others' shares when it is done with its own.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence

import pytest

_LATEST = 0.6
"""The part of a share before which all of its waiting tests begin."""


def workers() -> int:
    """How many run the tests of this run together."""
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


def spread(items: Sequence[pytest.Item], shares: int) -> list[pytest.Item]:
    """The same tests, those that wait in different places of different shares. A module's stay together."""
    waiting = [item for item in items if item.get_closest_marker("waits")]
    others = [item for item in items if not item.get_closest_marker("waits")]
    groups = [list(group) for _, group in itertools.groupby(waiting, key=lambda item: item.path)]
    ordered: list[pytest.Item] = []
    for share in range(shares):
        begin, end = (len(others) * border // shares for border in (share, share + 1))
        at = begin + round((end - begin) * _LATEST * share / shares)
        mine = itertools.chain.from_iterable(groups[share::shares])
        ordered += [*others[begin:at], *mine, *others[at:end]]
    return ordered
