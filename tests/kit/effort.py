"""How hard the tests try: one number for examples, rounds, seeds and kills, of which a longer run takes more."""

from __future__ import annotations

import os


def effort(count: int) -> int:
    """So many of them in the suite, or `COCLI_TEST_EFFORT` times as many.

    Ask when a test module is imported: while tests run, they do not see this machine's settings.
    """
    return max(1, round(count * float(os.environ.get("COCLI_TEST_EFFORT", "1"))))
