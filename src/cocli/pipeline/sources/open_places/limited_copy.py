"""The copy of a file is made in a process with limits: whoever made the file is a stranger.

Processor time, and what may lie on the disk meanwhile, grow with the file; memory has one limit. So an honest file of
gigabytes is read, and a small one neither takes for ever nor fills the machine.
"""

from __future__ import annotations

import errno
import os
import resource
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.documents.reading.reader_process import tell_progress
from cocli.documents.reading.room import PLACES
from cocli.errors import DiskFull, SourceRefused, TooCostly
from cocli.pipeline.sources.open_places.sorted_copy import BuiltCopy, build_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cocli.pipeline.sources.open_places.kind import OpenFileKind

_MIB = 1 << 20
_SECONDS, _SECONDS_PER_MIB = 180, 30
"""Of processor time. A laptop takes two seconds for a megabyte that is packed well, a small board ten."""
_BYTES, _TIMES = 256 * _MIB, 200
"""On the disk: JSON may be packed to a hundredth, and is written out once more."""
_NICENESS = 5


@dataclass(frozen=True, slots=True)
class CopyAllowance:
    """What making a copy may take: processor time, and bytes on the disk."""

    seconds: int
    most_bytes: int

    @classmethod
    def of(cls, files: Sequence[str]) -> CopyAllowance:
        size = sum(map(os.path.getsize, files))
        return cls(_SECONDS + _SECONDS_PER_MIB * (size // _MIB), _BYTES + _TIMES * size)


def copy_with_limits(
    files: Sequence[str],
    kinds: Sequence[OpenFileKind],
    wanted: str | None,
    folder: str,
    progress: Callable[[int], None],
    allowance: CopyAllowance | None = None,
) -> BuiltCopy:
    """As `build_copy`, in another process. `SourceRefused` for a file that takes too much."""
    allowed = allowance or CopyAllowance.of(files)
    arguments = list(files), list(kinds), wanted, folder, allowed
    try:
        return PLACES.call(copy_here, *arguments, what=files[0], progress=progress)
    except TooCostly as error:
        reason = str(error.details["reason"])
        if "processor time" in reason:
            reason = f"more than {allowed.seconds} s of processor time"
        raise SourceRefused(file=files[0], reason=f"it takes too much to read: {reason}") from error


def copy_here(
    files: Sequence[str], kinds: Sequence[OpenFileKind], wanted: str | None, folder: str, allowed: CopyAllowance
) -> BuiltCopy:
    """What the other process does."""
    free = shutil.disk_usage(folder).free // 2
    most_bytes = min(allowed.most_bytes, free)
    with _limits(allowed.seconds, most_bytes):
        try:
            return build_copy(files, kinds, wanted, folder, tell_progress, most_bytes)
        except (DiskFull, OSError) as error:
            if allowed.most_bytes > free or not _is_too_large(error):
                raise
            reason = f"it takes too much to read: more than {most_bytes // _MIB:,} MiB on the disk"
            raise SourceRefused(file=files[0], reason=reason) from error


def _is_too_large(error: DiskFull | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno == errno.EFBIG
    return os.strerror(errno.EFBIG) in error.message


@contextmanager
def _limits(seconds: int, most_bytes: int) -> Iterator[None]:
    """Of this process, while it copies. It stands back where others want the processor."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    os.setpriority(os.PRIO_PROCESS, 0, max(_NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
