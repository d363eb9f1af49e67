"""The document service alone: what `documents` measures of it, under the same names, without the peers of the rest.

`saves=4000`, `stream_mib=100` and `rounds=3` as there.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks._documents_service import measure_service

if TYPE_CHECKING:
    from benchmarks.harness import Bench


def main(bench: Bench) -> None:
    with tempfile.TemporaryDirectory(prefix="cocli-bench-") as name:
        measure_service(bench, Path(name) / "served")
