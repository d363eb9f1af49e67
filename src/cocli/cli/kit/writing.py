"""Which commands write into the store: those are refused on a machine that was evicted.

Whatever is not named here counts as writing, so that a new command is refused before anybody thinks of it.
"""

from __future__ import annotations

_READING = {
    "campaign": ("list", "show", "use", "coverage"),
    "source": ("ls", "check", "categories"),
    "company": ("ls", "show"),
    "person": ("ls", "show"),
    "note": ("ls",),
    "meeting": ("ls", "next"),
    "remote": ("ls", "show"),
    "sync": ("status",),
    "backup": ("ls", "verify"),
    "queue": ("status", "ls", "show"),
    "index": ("status", "get", "history", "diff", "check", "query"),
    "documents": ("get", "states", "ls", "jobs", "job", "compare"),
    "store": ("ls", "cat", "du"),
    "deploy": ("status", "logs"),
    "suppress": ("list", "check", "export"),
}
_NO_RECORDS = (
    "find",
    "export",
    "subject-access",
    "why",
    "doctor",
    "locate",
    "init",
    "config",
    "completion",
    "demo",
    "self",
)
"""Nouns that write nothing into the store, or into one of their own."""
_LOOK_THEMSELVES = ("run", "worker", "supervisor", "documents work", "documents serve", "enrichment serve")
"""They look again and again while they run, and end what they hold first."""
_ABOUT_MACHINES = "cluster"
"""Evicting and admitting: whoever evicted his only machine takes it back by this."""

READING_COMMANDS = frozenset(f"{noun} {verb}" for noun, verbs in _READING.items() for verb in verbs)
EXEMPT = (*_NO_RECORDS, *_LOOK_THEMSELVES, _ABOUT_MACHINES)


def writes(command: str) -> bool:
    """Whether a command writes records, tasks or files that other machines take for true."""
    return bool(command) and command not in (*READING_COMMANDS, *EXEMPT) and command.split()[0] not in EXEMPT
