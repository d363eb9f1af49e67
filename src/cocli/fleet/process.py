"""A worker as a process of its own: started, listened to, measured, drained, and, if need be, killed with its children.

It is held on a leash: its stdin is a pipe whose other end we hold, so it notices our death, however that comes, and
drains. What it tells us comes line by line on its stdout, what it complains about on its stderr.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Protocol

from cocli import logs
from cocli.errors import FormatError
from cocli.fleet.succession import InheritedProcess
from cocli.formats import json_records
from cocli.logs.output import pass_on
from cocli.models.heartbeat import WorkerReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cocli.fleet.succession import InheritedWorker

_LOG = logs.get_logger(__name__)

_LONGEST_LINE = 1 << 20
_LAST_LINE = 500
_LISTENERS_SECONDS = 2.0


class SpawnedWorker(Protocol):
    """What a supervisor needs of a worker, whoever runs it."""

    @property
    def pid(self) -> int: ...

    @property
    def report(self) -> WorkerReport | None:
        """The newest."""
        ...

    @property
    def last_error(self) -> str | None: ...

    def exit_code(self) -> int | None:
        """None while it runs."""
        ...

    def memory(self) -> int:
        """Bytes that it and its children hold now."""
        ...

    def drain(self) -> None: ...

    def kill(self) -> None: ...

    def pipes(self) -> tuple[int, int, int]:
        """Its standard input, output and error, for whoever inherits it."""
        ...


class WorkerProcess:
    """Fits `SpawnedWorker`."""

    @classmethod
    def started(
        cls, command: Sequence[str], environ: Mapping[str, str], *, on_complaint: Callable[[str], None]
    ) -> WorkerProcess:
        process = subprocess.Popen(  # noqa: S603 - our own program, without a shell
            command,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        return cls(process, on_complaint)

    @classmethod
    def inherited(cls, worker: InheritedWorker, *, on_complaint: Callable[[str], None]) -> WorkerProcess:
        """One that runs already: an earlier release of this supervisor has started it."""
        return cls(InheritedProcess(worker), on_complaint)

    def __init__(
        self, process: subprocess.Popen[bytes] | InheritedProcess, on_complaint: Callable[[str], None]
    ) -> None:
        self._process = process
        self._on_complaint = on_complaint
        self._torn = isinstance(process, InheritedProcess)
        """The first line may lack its beginning, which an earlier release has read."""
        self._report: WorkerReport | None = None
        self._complaint: str | None = None
        self._listeners = [
            threading.Thread(target=self._listen, args=(stream, heed), name=f"worker-{self.pid}", daemon=True)
            for stream, heed in ((process.stdout, self._heed_report), (process.stderr, self._heed_complaint))
        ]
        for listener in self._listeners:
            listener.start()
        _LOG.debug("process started", extra={"pid": self.pid})

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def report(self) -> WorkerReport | None:
        return self._report

    @property
    def last_error(self) -> str | None:
        return self._complaint or (self._report.last_error if self._report else None)

    def exit_code(self) -> int | None:
        code = self._process.poll()
        if code is not None and self._process.stdin and not self._process.stdin.closed:
            self._bury()
        return code

    def memory(self) -> int:
        import psutil

        try:
            process = psutil.Process(self.pid)
            return sum(_resident(member) for member in (process, *process.children(recursive=True)))
        except psutil.Error:
            return 0  # gone: `exit_code` will say so

    def drain(self) -> None:
        """Asked twice, it gives back what it has in hand at once."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)

    def pipes(self) -> tuple[int, int, int]:
        into, out, errors = self._process.stdin, self._process.stdout, self._process.stderr
        if into is None or out is None or errors is None:
            raise ValueError("a worker without pipes")
        return into.fileno(), out.fileno(), errors.fileno()

    def kill(self) -> None:
        _LOG.warning("process killed", extra={"pid": self.pid})
        self._kill_group()
        self._process.wait()
        self._bury()

    # --- listening

    def _listen(self, stream: BinaryIO, heed: Callable[[bytes], None]) -> None:
        with stream:
            while line := stream.readline(_LONGEST_LINE):
                heed(line)

    def _heed_report(self, line: bytes) -> None:
        try:
            self._report = json_records.read(WorkerReport, line, file="a worker's stdout")
        except FormatError as error:
            if not self._torn:
                self._heed_complaint(error.message.encode())
        self._torn = False

    def _heed_complaint(self, line: bytes) -> None:
        whole = line.decode("utf-8", "replace").strip()
        text = whole[:_LAST_LINE].removeprefix("error: ")
        if not text or pass_on(whole):
            return
        if not text.startswith("hint: "):
            self._complaint = text
        self._on_complaint(text)

    # --- the end

    def _bury(self) -> None:
        """Read what it still said, and see that no child of it is left."""
        if self._process.stdin:
            with suppress(OSError):  # nothing was ever written to it
                self._process.stdin.close()
        self._kill_group()
        for listener in self._listeners:
            listener.join(_LISTENERS_SECONDS)

    def _kill_group(self) -> None:
        """The process leads a group of its own, which has its number."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _resident(process: object) -> int:
    import psutil

    try:
        return int(process.memory_info().rss)  # type: ignore[attr-defined]
    except psutil.Error:
        return 0
