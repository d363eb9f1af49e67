"""The process that reads pages for another one: a request on stdin, the answer on stdout, until stdin ends.

Each message is a length of eight bytes and a pickle of that length. Both ends are this program, in one version and with
the same rights. A page that takes too long ends the process: the kernel does that, whatever the page is busy with.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import struct
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, cast

from cocli.pipeline.websites.site.look import LookRequest, look_at
from cocli.pipeline.websites.triage.triage import Expected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.pipeline.websites.site.look import PageLook

HEAD = struct.Struct(">Q")
READY = "ready"
"""The first answer, before there was a request."""
_WARM_UP = LookRequest(
    body=b"<title>Ready</title><p>Tel. +49 30 23125042, <a href='mailto:info@example.com'>info@example.com</a>",
    charset="utf-8",
    uri="https://example.com/",
    country="DE",
    where="https://example.com/",
    status=200,
    asked="example.com",
    expected=Expected(),
)


def main(arguments: Sequence[str]) -> int:
    """`arguments` are the seconds of processor time that a page may take, and the bytes of memory of the process."""
    seconds, memory = int(arguments[0]), int(arguments[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started us: when that one ends, stdin does
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints something does not print into an answer
    with suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    look_at(_WARM_UP)  # tables are loaded now, and not while the first page is timed
    _write(answers, READY)
    while (request := _read(requests)) is not None:
        _limit(seconds)
        answer: PageLook | str
        try:
            answer = look_at(request)
        except MemoryError:
            answer = f"more than {memory >> 20} MiB of memory"
        _write(answers, answer)
        if isinstance(answer, str):
            return 1  # what is left of the memory is in pieces
    return 0


def _read(stream: BinaryIO) -> LookRequest | None:
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    data = stream.read(HEAD.unpack(head)[0])
    return cast("LookRequest", pickle.loads(data))  # noqa: S301  from our own program


def _write(stream: BinaryIO, answer: PageLook | str) -> None:
    data = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    stream.write(HEAD.pack(len(data)))
    stream.write(data)
    stream.flush()


def _limit(seconds: int) -> None:
    """From now on so many seconds of processor time; the kernel counts whole ones."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
