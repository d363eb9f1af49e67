"""One question and its answer: a line of JSON, then the files that it announces; at the end a line of JSON."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import sys
from typing import Any

from cocli.app.deploy.agent.installation import install
from cocli.app.deploy.agent.places import HostPlaces
from cocli.app.deploy.agent.refusal import AgentRefusal
from cocli.app.deploy.agent.standing import look
from cocli.app.deploy.agent.switch import logs, remove, rollback, settle, stop, switch

ACTIONS = {"look": look, "install": install, "switch": switch, "rollback": rollback, "stop": stop, "remove": remove,
           "logs": logs, "settle": settle, "status": look}  # fmt: skip


def say(document: Any) -> Any:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


def converse(stream: Any) -> Any:
    request = json.loads(stream.readline())
    sizes = request.pop("sizes", {})
    request["files"] = {name: stream.read(size) for name, size in sizes.items()}
    if any(len(request["files"][name]) != size for name, size in sizes.items()):
        return {"problem": "cut", "text": "the connection ended before everything had arrived"}
    os.umask(0o022)
    places = HostPlaces(request)
    try:
        with _alone(places, request["do"]):
            return {"answer": ACTIONS[request["do"]](request, places)}
    except AgentRefusal as refused:
        return {"problem": refused.kind, "text": str(refused)}
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return {"problem": "full" if full else "system", "text": f"{error.strerror or error}: {error.filename or ''}"}

    except Exception as error:  # noqa: BLE001  whoever asked is told in one line, whatever it is
        return {"problem": "failed", "text": f"{type(error).__name__}: {error}"[:500]}


@contextlib.contextmanager
def _alone(places: Any, action: Any) -> Any:
    """Two deployments of one host do not mix."""
    if action in ("look", "status", "logs", "settle"):
        yield
        return
    os.makedirs(places.base, exist_ok=True)
    with open(places.path(".lock"), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AgentRefusal("busy", "somebody else deploys to this host now") from None
        os.set_inheritable(file.fileno(), False)
        yield


def main() -> Any:
    say(converse(sys.stdin.buffer))
