"""How well contacts are found and delivered on pages whose contacts are known, and how well listings are matched.

README.md beside this file explains the pages, their truth, how any program takes part, and the results.

    python -m benchmarks.contacts                 the hand-made pages of this folder: every form and every negative
    python -m benchmarks.contacts FOLDER          other pages
    python -m benchmarks.contacts --half open     generated pages, by class and by language
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.harness import Bench


def main(bench: Bench) -> None:
    """`make bench NAME=contacts`."""
    from benchmarks.contacts.measures import measure

    measure(bench)
