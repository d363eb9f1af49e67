"""What a migration has done, one line of JSON per batch, so that a second run does only what is left.

Files are remembered by what they hold, not by where they lie. A last line without its end was being written when the
process died: it is cut off.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from cocli.errors import DataError
from cocli.pipeline.migrate.counts import LayoutCount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType


@dataclass(frozen=True, slots=True)
class Position:
    """How far it got: the rows set aside, and the rows done of the file that is not finished."""

    rejected_bytes: int = 0
    file: str | None = None
    rows: int = 0

    def done_in(self, identity: str) -> int:
        if identity == self.file:
            return self.rows
        return 0


class Journal:
    def __init__(self, path: str) -> None:
        self.path = path
        self.position = Position()
        self.counts: dict[str, LayoutCount] = {}
        self._done: set[str] = set()
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        self._file = open(path, "a+b")  # noqa: SIM115  closed by __exit__
        try:
            self._lock()
            self._read()
        except BaseException:  # also Ctrl-C: the lock goes with the file
            self._file.close()
            raise

    def is_done(self, identity: str) -> bool:
        return identity in self._done

    def write(self, finished: Sequence[str], position: Position, counts: Mapping[str, LayoutCount]) -> None:
        """Remember. Writes nothing where nothing is new."""
        if not finished and position == self.position:
            return
        line = {
            "finished": list(finished),
            "rejected_bytes": position.rejected_bytes,
            "file": position.file,
            "rows": position.rows,
            "counts": {name: count.as_dict() for name, count in counts.items()},
        }
        self._file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._done.update(finished)
        self.position = position

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataError(reason=f"another migration is at work with the journal {self.path}") from error

    def _read(self) -> None:
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(reason=f"{self.path}, line {number}: not a line of a migration's journal") from error
            whole += len(line)
        self._file.truncate(whole)

    def _take(self, line: dict[str, object]) -> None:
        finished, counts = line["finished"], line["counts"]
        rejected_bytes, file, rows = line["rejected_bytes"], line["file"], line["rows"]
        if not (isinstance(finished, list) and isinstance(counts, dict)):
            raise TypeError
        if not (isinstance(rejected_bytes, int) and isinstance(rows, int) and (file is None or isinstance(file, str))):
            raise TypeError
        self._done.update(map(str, finished))
        self.position = Position(rejected_bytes, file, rows)
        self.counts = {name: LayoutCount.from_dict(count) for name, count in counts.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
