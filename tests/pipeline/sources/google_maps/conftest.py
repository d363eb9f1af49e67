"""The made-up pages are shared with the benchmark, which lies beside the tests."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[4])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
