"""One host over plain ssh: the agent's modules are sent as text, and it answers with a line of JSON.

The program `ssh` is used as the person uses it, with their `~/.ssh/config`, keys and agent; no password is asked for.
A host whose key is not known is refused, unless new ones are to be accepted; one whose key has changed always is.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from cocli.app.deploy import agent
from cocli.errors import DeploymentError, HostLost, HostRefused, HostUnfit, HostUnreachable, ReleaseRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

OLDEST = (3, 11)
_NO_PYTHON = 79
_SSH_FAILED = 255
_CHUNK = 1 << 20
_PYTHONS = "python3 python3.14 python3.13 python3.12 python3.11"
_AGENT = """\
import json, sys, types
for name, text in json.loads(sys.stdin.buffer.readline()):
    sys.modules[name] = module = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
module.main()
"""
_SCRIPT = f"""\
for p in {_PYTHONS}; do
  if command -v $p >/dev/null 2>&1 && $p -c 'import sys; sys.exit(sys.version_info < {OLDEST})' >/dev/null 2>&1; then
    exec @SUDO@$p -c '{_AGENT}'
  fi
done
python3 --version 2>/dev/null || echo none
exit {_NO_PYTHON}
"""
_REFUSALS = {"broken": ReleaseRefused, "full": HostUnfit, "stuck": DeploymentError}


@dataclass(frozen=True, slots=True)
class SshSettings:
    config: str | None = None
    """A file in the place of ~/.ssh/config."""
    accept_new: bool = False
    """Take the key of a host that was never seen; one that has changed is refused all the same."""
    sudo: bool = False
    base: str | None = None
    """Another folder on the hosts: then nothing outside of it is touched."""
    connect_seconds: int = 10


@dataclass(slots=True)
class SshHost:
    """Connections are shared as long as it is open: the second request needs no new key exchange."""

    target: str
    settings: SshSettings = field(default_factory=SshSettings)
    _folder: str = field(default_factory=lambda: tempfile.mkdtemp(prefix="cocli-ssh-"))

    def ask(self, action: str, files: Mapping[str, bytes] | None = None, **request: Any) -> dict[str, Any]:
        """What the agent answers. Whatever it refuses, and whatever ssh complains of, is an error with clear words."""
        sent = files or {}
        sizes = {name: len(data) for name, data in sent.items()}
        asked = {"do": action, "base": self.settings.base, "sizes": sizes, **request}
        parts = [_agent_line(), json.dumps(asked).encode() + b"\n", *sent.values()]
        code, out, err = self._run(parts)
        return self._answer(code, out, err)

    def close(self) -> None:
        """End the shared connection, if one was made."""
        if shutil.which("ssh"):
            subprocess.run([*self._words(), "-O", "exit", self.target], capture_output=True, check=False)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, parts: list[bytes]) -> tuple[int, str, str]:
        script = _SCRIPT.replace("@SUDO@", "sudo -n " if self.settings.sudo else "")
        command = [*self._words(), self.target, f"sh -c {shlex.quote(script)}"]
        with tempfile.TemporaryFile() as talk:
            try:
                process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=talk)
            except FileNotFoundError as error:
                raise HostUnreachable(host=self.target, reason="ssh is not installed here") from error
            with process:
                _feed(process, parts)
                out = process.stdout.read() if process.stdout else b""
            talk.seek(0)
            return process.returncode, out.decode("utf-8", "replace"), talk.read().decode("utf-8", "replace")

    def _words(self) -> list[str]:
        checking = "accept-new" if self.settings.accept_new else "yes"
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": str(self.settings.connect_seconds),
            "ServerAliveInterval": "5",
            "ServerAliveCountMax": "3",
            "StrictHostKeyChecking": checking,
            "ControlMaster": "auto",
            "ControlPath": f"{self._folder}/%C",
            "ControlPersist": "60",
            "LogLevel": "ERROR",
        }
        given = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        return ["ssh", *(["-F", self.settings.config] if self.settings.config else []), *given]

    def _answer(self, code: int, out: str, err: str) -> dict[str, Any]:
        last = out.strip().splitlines()[-1:] or [""]
        try:
            found = json.loads(last[0])
        except ValueError:
            raise self._failure(code, out, err) from None
        if not isinstance(found, dict) or not {"answer", "problem"} & found.keys():
            raise self._failure(code, out, err)
        if "problem" in found:
            kind = _REFUSALS.get(found["problem"], DeploymentError)
            raise kind(host=self.target, reason=str(found["text"]))
        answer: dict[str, Any] = found["answer"]
        return answer

    def _failure(self, code: int, out: str, err: str) -> DeploymentError:
        said = " ".join(err.split())[-300:] or f"it ended with code {code}"
        if code == _NO_PYTHON:
            found = out.strip() or "none"
            reason = "it has no python3" if found == "none" else f"{found} is too old: 3.11 or newer is needed"
            return HostUnfit(host=self.target, reason=reason, hint=f"On {self.target}: apt install python3")
        if code == _SSH_FAILED:
            return self._ssh_failure(" ".join(err.split()), said)
        if "sudo" in err:
            hint = "Let the user run sudo without a password, log in as root, or deploy without --sudo."
            return HostRefused(host=self.target, reason=said, hint=hint)
        return HostLost(host=self.target, reason=said)

    def _ssh_failure(self, whole: str, said: str) -> DeploymentError:
        """By all that ssh wrote: what matters may stand at the beginning of a page."""
        if "HOST IDENTIFICATION HAS CHANGED" in whole or "differs from the key" in whole:
            hint = f"If the host was set up anew: ssh-keygen -R {self.target}, then deploy with --accept-new-key"
            return HostRefused(host=self.target, reason="its key is not the one that is known", hint=hint)
        if "Host key verification failed" in whole or "host key is known" in whole:
            hint = f"Compare its key and accept it: ssh {self.target} true; or: --accept-new-key"
            return HostRefused(host=self.target, reason="its key is not known here", hint=hint)
        if "Permission denied" in said:
            hint = f"Put your public key there: ssh-copy-id {self.target}"
            return HostRefused(host=self.target, reason=said, hint=hint)
        words = ("resolve hostname", "refused", "timed out", "No route", "unreachable")
        if any(word in said for word in words):
            return HostUnreachable(host=self.target, reason=said)
        return HostLost(host=self.target, reason=said)


def _agent_line() -> bytes:
    """The agent as one line: the names of its modules and their texts, in the order in which they are read."""
    folder = resources.files(agent.__name__)
    texts = [(f"{agent.__name__}.{name}", folder.joinpath(f"{name}.py").read_text("utf-8")) for name in agent.MODULES]
    return json.dumps(texts).encode() + b"\n"


def _feed(process: subprocess.Popen[bytes], parts: list[bytes]) -> None:
    """Write everything. A host that is gone, or that refuses, stops reading: what it said tells why."""
    if process.stdin is None:
        return
    try:
        for part in parts:
            for begin in range(0, len(part), _CHUNK):
                process.stdin.write(part[begin : begin + _CHUNK])
        process.stdin.close()
    except BrokenPipeError:
        return
