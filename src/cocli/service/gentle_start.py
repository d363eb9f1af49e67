"""How a process beside the service starts: all that it loads, it loads at low priority.

To load takes as much processor as some hundred saves of documents, at the very moment when many ask. A thread of low
priority does it; the others of the process have the usual one, and need no permission to get it back.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

T = TypeVar("T")
_NICENESS = 10


def packed(serve: Callable[..., None], *arguments: object) -> bytes:
    """For `unpack_and_serve`. What is only told by its name is not loaded before it is unpacked."""
    return pickle.dumps((serve, arguments), pickle.HIGHEST_PROTOCOL)


def unpack_and_serve(line: Any, call: bytes) -> None:
    """The target of a process: `line` is what it hears by, the first argument of what was packed."""
    serve, arguments = gently(partial(pickle.loads, call))
    serve(line, *arguments)


def gently(make: Callable[[], T]) -> T:
    """What it makes, at low priority. Whoever waits for it keeps its own."""
    with ThreadPoolExecutor(1, thread_name_prefix="start", initializer=_give_way) as thread:
        return thread.submit(make).result()


def _give_way() -> None:
    if sys.platform == "linux":  # elsewhere a thread has no priority of its own
        number = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, number, os.getpriority(os.PRIO_PROCESS, number) + _NICENESS)
