"""Known websites again: what a second visit costs beside the first, in requests and in processor time.

    make bench NAME=refresh
    make bench NAME=refresh ARGS="sites=10000"

`_refresh_visits.py` says how it is measured. Sizes: `sites`. The start of a command weighs in a few hundred sites, and
not in ten thousand.
"""

from __future__ import annotations

from benchmarks._refresh_changes import measure_changes
from benchmarks._refresh_forget import measure_forgetting
from benchmarks._refresh_visits import measure_visits
from benchmarks.harness import Bench


def main(bench: Bench) -> None:
    measure_visits(bench)
    measure_changes(bench)
    measure_forgetting(bench)
