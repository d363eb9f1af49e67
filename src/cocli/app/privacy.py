"""Who else may look into this machine's folders: what cocli makes is closed, what was made before may not be."""

from __future__ import annotations

import os
import shlex
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.config.places import cache_home, data_home, state_home

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.config.places import Environment


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """A folder that others may enter, with the command that closes it."""

    path: str
    who: str
    fix: str


def open_folders(environ: Environment) -> Iterator[OpenFolder]:
    """Those of data, state and cache that others than their owner may use. A data home may be shared with a group."""
    for path, closed_to in (
        (data_home(environ), stat.S_IRWXO),
        (state_home(environ), stat.S_IRWXG | stat.S_IRWXO),
        (cache_home(environ), stat.S_IRWXG | stat.S_IRWXO),
    ):
        try:
            mode = os.stat(path).st_mode
        except OSError:  # not made yet, or not ours to look at: then nothing of ours lies in it
            continue
        if mode & closed_to:
            who = "everybody on this machine" if mode & stat.S_IRWXO else "its group"
            rights = "o-rwx" if closed_to == stat.S_IRWXO else "go-rwx"
            yield OpenFolder(path, who, f"chmod {rights} {shlex.quote(path)}")
