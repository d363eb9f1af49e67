"""The services as they are run: `cocli … serve` in a process of its own, with a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cocli.app.documents.tokens import Tokens, TokenScope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_STOP_SECONDS = 30.0


@dataclass(frozen=True)
class RunningService:
    """A process, and the words of the lines that it printed: where it listens."""

    home: Path
    process: subprocess.Popen[str]
    lines: list[list[str]]

    def token(
        self,
        account: str = "default",
        *,
        days: float = 1.0,
        scopes: Iterable[TokenScope] = tuple(TokenScope),
        who: str = "",
    ) -> str:
        """As `cocli documents token` makes it, without a process for each."""
        secret = self.home / ".local" / "state" / "cocli" / "documents" / "token.secret"
        return Tokens(secret.read_bytes().strip()).make(
            account, datetime.now(UTC) + timedelta(days=days), scopes=scopes, who=who
        )

    @property
    def log(self) -> str:
        return (self.home / "log").read_text()


def environment(home: Path, **more: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("COCLI_", "XDG_"))}
    own = {"HOME": str(home), "COCLI_DATA_HOME": str(home / "data"), "COCLI_CONFIG": str(home / "user.toml")}
    ports = {"COCLI_DOCUMENTS_GRPC_PORT": "0", "COCLI_DOCUMENTS_HTTP_PORT": "0"}
    return {**inherited, **own, **ports, **more}


@contextmanager
def running(
    home: Path, *words: str, lines: int = 1, environ: Mapping[str, str] | None = None
) -> Iterator[RunningService]:
    """`cocli WORDS` until the block ends, once it printed so many lines."""
    home.mkdir(exist_ok=True, parents=True)
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "cocli", *words],
            env=dict(environ or environment(home)),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdout is not None
        try:
            said = [process.stdout.readline().split() for _ in range(lines)]
            assert all(said), (home / "log").read_text()
            yield RunningService(home, process, said)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            finally:
                process.kill()
                process.stdout.close()
