"""Who else takes part: programs of `peers/`, each in a Python that has what it needs."""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contacts.programs import EachTime, KeptRunning, program

ROOT = Path(__file__).parents[2]
PYTHON = "CONTACTS_PEERS_PYTHON"
"""Names the Python of an environment in which the peers are installed; without it, those of this one take part."""
NEEDS = {
    "regular_expressions": (),
    "beautifulsoup": ("bs4", "lxml"),
    "scrapy_selectors": ("scrapy",),
    "extract_emails_library": ("extract_emails",),
    "trafilatura_text": ("trafilatura",),
    "extruct_data": ("extruct",),
    "commonregex_text": ("commonregex",),
}
"""Program → the modules that it needs."""


@dataclass(frozen=True, slots=True)
class Contestant:
    name: str
    command: str

    def opened(self) -> AbstractContextManager[EachTime | KeptRunning]:
        return program(self.command, stream=True)


def contestants() -> Iterator[Contestant]:
    """The peers whose modules are there."""
    python = os.environ.get(PYTHON) or sys.executable
    for name, modules in NEEDS.items():
        if all(_has(python, module) for module in modules):
            words = ["env", f"PYTHONPATH={ROOT}", python, "-m", f"benchmarks.contacts.peers_programs.{name}"]
            yield Contestant(name.replace("_", " "), shlex.join(words))


def _has(python: str, module: str) -> bool:
    if python == sys.executable:
        return importlib.util.find_spec(module) is not None
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", code]).returncode == 0
