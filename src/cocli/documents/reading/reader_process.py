"""Reads for another process: a function and its arguments on stdin, the answer on stdout, until stdin ends.

Each message is a length of eight bytes and a pickle of that length. Both ends are this program, in one version and with
the same rights. What takes too long ends the process: the kernel does that, whatever it is busy with.
"""

from __future__ import annotations

import copyreg
import gc
import importlib
import io
import os
import pickle
import resource
import signal
import struct
import sys
import time
from collections import ChainMap
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HEAD = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """What came of a request. The first one is there before any request: the process is ready.

    Any number of answers may say how far it is (`progress`), before the one that counts.
    """

    kind: Literal["ready", "progress", "read", "costly", "raised"]
    value: Any = None
    seconds: float = 0.0
    """Of processor time."""


@dataclass(slots=True)
class _Told:
    """Whom this process answers."""

    stream: BinaryIO | None = None


_TOLD = _Told()
"""One per process, as stdout is."""


def tell_progress(done: int) -> None:
    """For a function that is called here: say how far it is. Elsewhere nobody listens."""
    if _TOLD.stream is not None:
        _write(_TOLD.stream, ReaderAnswer("progress", done))


def framed(message: object) -> bytes:
    """A message as it is sent. Documents have mappings that nobody can change, which pickle alone cannot send."""
    stream = io.BytesIO(bytes(HEAD.size))
    stream.seek(HEAD.size)
    pickler = pickle.Pickler(stream, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _TABLE
    pickler.dump(message)
    length = stream.tell() - HEAD.size
    stream.seek(0)
    stream.write(HEAD.pack(length))
    return stream.getvalue()


def _unchangeable(mapping: MappingProxyType[Any, Any]) -> tuple[Callable[..., object], tuple[object]]:
    return frozen_mapping, (dict(mapping),)


def frozen_mapping(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


_TABLE: ChainMap[type, Any] = ChainMap({MappingProxyType: _unchangeable}, copyreg.dispatch_table)


def main(arguments: Sequence[str]) -> int:
    """`arguments`: the seconds of processor time for one request, the bytes of memory of the process, the warm-up."""
    seconds, memory, warm_up = int(arguments[0]), int(arguments[1]), arguments[2]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started us: when that one ends, stdin does
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints something does not print into an answer
    with suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    _TOLD.stream = answers
    _warm(warm_up)
    gc.freeze()  # the tables stay: whoever looks for garbage need not look at them with every page
    _write(answers, ReaderAnswer("ready"))
    while (data := _read(requests)) is not None:
        _limit(seconds)
        began = time.process_time()
        answer = _answered(data, memory)
        answer = replace(answer, seconds=time.process_time() - began)
        _write(answers, answer)
        if answer.kind == "costly":
            return 1  # what is left of the memory is in pieces
    return 0


def _warm(function: str) -> None:
    """Tables are loaded now, and not while the first page is timed."""
    module, _, name = function.partition(":")
    if name:
        getattr(importlib.import_module(module), name)()


def _answered(data: bytes, memory: int) -> ReaderAnswer:
    try:
        function, arguments = cast("tuple[Callable[..., object], tuple[object, ...]]", pickle.loads(data))  # noqa: S301  from our own program
        return ReaderAnswer("read", function(*arguments))
    except MemoryError:
        return ReaderAnswer("costly", f"more than {memory >> 20} MiB of memory")
    except Exception as error:  # noqa: BLE001  it is raised again where it belongs
        return ReaderAnswer("raised", error)


def _read(stream: BinaryIO) -> bytes | None:
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    return stream.read(HEAD.unpack(head)[0])


def _write(stream: BinaryIO, answer: ReaderAnswer) -> None:
    try:
        data = framed(answer)
    except MemoryError:
        data = framed(ReaderAnswer("costly", "its answer needs more memory than there may be"))
    except Exception as error:  # noqa: BLE001  what cannot be sent is told in words
        data = framed(ReaderAnswer("raised", RuntimeError(f"{type(error).__name__}: {error}; {answer.value!r}"[:1000])))
    stream.write(data)
    stream.flush()


def _limit(seconds: int) -> None:
    """From now on so many seconds of processor time; the kernel counts whole ones."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    # By its name: what is pickled as `__main__` would be unknown on the other side.
    sys.exit(importlib.import_module("cocli.documents.reading.reader_process").main(sys.argv[1:]))
