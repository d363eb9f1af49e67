"""Whether a folder lies on a disk of this machine, or on one that others share over a network."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

_OWN_DISKS = frozenset({"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})


@cache
def is_own_disk(path: str) -> bool:
    """False where the system does not tell: only Linux does."""
    return _file_system(path) in _OWN_DISKS


def _file_system(path: str) -> str:
    """The kind of the file system that a path lies on; empty where the system does not tell."""
    longest, kind = "", ""
    with suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            words, _, about = line.partition(" - ")
            place = words.split(" ")[4].replace("\\040", " ").rstrip("/")
            if (path == place or path.startswith(f"{place}/")) and len(place) >= len(longest):
                longest, kind = place, about.split(" ")[0]
    return kind
