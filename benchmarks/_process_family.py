"""A process and all that came of it, for benchmarks that watch what a command uses."""

from __future__ import annotations

import psutil


def family(pid: int) -> list[psutil.Process]:
    """Empty where it has ended."""
    try:
        head = psutil.Process(pid)
        return [head, *head.children(recursive=True)]
    except psutil.Error:
        return []
