"""Command lines that nobody means: every command, with values that a keyboard, a script or a stranger can put there.

A line is made of the command's own parameters. What must be given is given well (a campaign that exists, a company of
it), and then one or two values are made hostile: numbers beyond all bounds, empty and endless texts, control
characters, bytes that are no UTF-8, paths that are folders, devices or loops, stores that are not there.

Nothing outside of the home is named, other than devices: a line may succeed, and do what it says.
"""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from cocli.cli.kit.reference import commands

NUMBERS = (
    "0", "-1", "-0", "00", "1" + "0" * 40, "-1" + "0" * 40, "9223372036854775808", "4294967296", "2147483647", "1e400",
    "1e18", "1e-320", "inf", "-inf", "nan", "0x10", "1_000", "٣", "½", "1,5", "+1", "1 ", "1e5", "0.0000001",
)  # fmt: skip
TEXTS = (
    "", " ", "\t", "\n", "\r", "\x1b[31mred\x1b[0m", "\x07\x08", "\u202egnp.exe", "\udcff\udcfe", "a\udc80b", "x" * 300,
    "x" * 100_000, "ü" * 5000, "日本語のとても長い名前" * 20, "e\u0301" * 90,
    "Gespräch mit Müller", "🦄", "../../x", "a/../b",
    "a//b", ".", "..", "%", "%00", "%zz", "%2e%2e", "-", "{", "[", '"', "'", "`id`", "$(id)", ";", "|", "=", "==", "a=",
    "=a", "a=b=c", ",", ",,", ":", "::", "*", "?", "(", "(((((", "\\", "\\x", "NaN", "null", "true", "None", "#",
    "@", "a@",
    "@a", "http://", "http://[", "http://[::1", "https://x:99999/", "http://x y/", "//", "javascript:alert(1)",
    "1h", "-1h",
    "99999999999d", "1e9s", "2026-13-45", "0000-00-00", "9999-12-31", "10000-01-01", "2026-11-17T25:61", "tomorrow",
    "91,181", "nan,nan", "1,2,3", "90,180,inf", "DE", "XX", "zz", "ß", "ſ", "select 1", "select", "from prospects",
    "prospects; drop", "os:system", "x:y:z", "a.b.c", "list", "[]", "{}", '{"a": NaN}', "[" * 3000, "{\"a\":" * 3000,
)  # fmt: skip
STORES = (
    "s3://", "s3:///x", "s3://bucket?endpoint=http://[", "s3://bucket?endpoint=ftp://x",
    "s3://bucket?endpoint=http://127.0.0.1:99999", "s3://bucket?region=%0a", "s3://bucket?colour=red", "s3://b\nc",
    "s3://bucket?profile=nobody", "memory://", "memory://x", "ftp://x/y", "file://", "gs://x", "\udcff", "x" * 5000,
)  # fmt: skip
ENDLESS = {
    "cocli demo": "it plays for a minute",
    "cocli enrichment serve": "it serves",
    "cocli documents serve": "it serves",
    "cocli cluster top": "it shows, again and again",
    "cocli source fetch": "it asks the network",
    "cocli deploy": "it asks hosts by ssh",
    "cocli deploy hosts": "it asks hosts by ssh",
    "cocli deploy hotfix": "it asks hosts by ssh",
    "cocli deploy rollback": "it asks hosts by ssh",
    "cocli deploy status": "it asks hosts by ssh",
    "cocli deploy logs": "it asks hosts by ssh",
    "cocli deploy stop": "it asks hosts by ssh",
    "cocli deploy remove": "it asks hosts by ssh",
}
"""Commands that are left out, and why."""
SLOW = frozenset({
    "cocli run", "cocli campaign achieve-goal", "cocli campaign settle", "cocli campaign re-extract",
    "cocli supervisor",
    "cocli worker", "cocli documents replay", "cocli documents seed", "cocli documents work", "cocli campaign migrate",
    "cocli campaign new", "cocli campaign edit", "cocli enrich", "cocli doctor", "cocli company refresh",
})  # fmt: skip
"""Commands that work long, or look a place up in a table of all villages: others come `_TURNS` times as often."""
_TURNS = 8
LEFT_OUT = ("--watch", "--every", "--wait", "--step", "--supervised", "--for", "--rate", "--bandwidth")
"""Options with which a command goes on until somebody stops it, or ends together with the one that started it."""
GOOD = {
    "campaign": "harrowmere", "campaign_argument": "harrowmere", "list_or_campaign": "harrowmere",
    "company": "bramachet-table",
    "other": "brameleth-table", "slug": "bramachet-table", "person": "ada-quillon", "index": "prospects",
    "queue": "enrichment",
    "task_id": "waits.example", "command": "pause", "when": "2031-01-01 10:00", "note": "called", "meeting": "offer",
    "sites": "gmail.com", "tags": "vip", "sql": "from prospects", "old": "1", "new": "2", "left": "main",
    "right": "staging",
    "prospect": "bramachet-table", "field": "name", "phrase": "restaurant", "source": "overture", "key": "companies/x",
    "edition": "staging", "job": "last", "nodes": "page", "docs": "x", "doc": "x", "datasource": "x",
    "kind": "campaign",
    "reason": "x", "state": "pending", "shell": "bash", "batch": "again", "command_id": "1", "value": "2",
    "text": "called",
    "words": "bram", "tag": "vip", "file": "leads.csv", "folder": "folder", "copy": "x", "name": "harrowmere",
}  # fmt: skip
"""Values that fit, by the parameter's name."""


@dataclass(frozen=True, slots=True)
class Line:
    """One command line."""

    path: str
    words: tuple[str, ...]


def bring_files(folder: Path) -> tuple[str, ...]:
    """Files of every kind below a folder; their paths, with some that are not there."""
    (folder / "folder").mkdir()
    (folder / "leads.csv").write_text("name,website\nAcme,https://acme.example\n")
    (folder / "empty").write_bytes(b"")
    (folder / "binary").write_bytes(bytes(range(256)) * 40)
    (folder / "zip").write_bytes(b"PK\x03\x04" + b"\x00" * 60)
    (folder / "gzip").write_bytes(b"\x1f\x8b\x08" + b"\x00" * 60)
    (folder / "deep.json").write_text("[" * 20_000)
    (folder / "wide.csv").write_text(",".join(f"c{number}" for number in range(20_000)) + "\n")
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere/x")
    os.mkfifo(folder / "unread-pipe")
    paths = [str(path) for path in sorted(folder.iterdir()) if path.name != "unread-pipe"]
    for name, minor in (("null", 3), ("full", 7)):
        paths.append(_device(folder / name, minor))
    missing = (f"{folder}/no/such/file", f"{folder}/leads.csv/below", f"{folder}/{'n' * 300}", f"{folder}/Gespräch.csv")
    return (*paths, *missing, f"{folder}/\udcff.csv", "leads.csv", "-", f"{folder}/new\nline.csv")


def _device(path: Path, minor: int) -> str:
    """A device of its own, where one can be made: what replaces it by mistake does not harm the machine."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
    except OSError:  # only root may; then /dev cannot be harmed
        return f"/dev/{path.name}"
    return str(path)


def leaves() -> list[tuple[str, Any]]:
    """What can be run, older names included."""
    found = []
    for path, command, _ in commands(hidden=True):
        if path in ENDLESS:
            continue
        if hasattr(command, "default_command"):
            found.append((path, command.default_command()))
        elif not hasattr(command, "list_commands"):
            found.append((path, command))
    return found


def hostile_lines(seed: int, paths: tuple[str, ...]) -> Iterator[Line]:
    """Lines without an end: all commands in turn, in an order of the seed's."""
    chance = random.Random(seed)
    known = leaves()
    for turn in count():
        chance.shuffle(known)
        for path, command in known:
            if path in SLOW and turn % _TURNS != _TURNS - 1:
                continue
            yield Line(path, tuple(_words(path, command, chance, paths)))


def _words(path: str, command: Any, chance: random.Random, paths: tuple[str, ...]) -> Iterator[str]:
    """The words of one line. One or two of its parameters are hostile."""
    usable = [parameter for parameter in command.params if _is_usable(parameter)]
    hostile = {id(parameter) for parameter in chance.sample(usable, min(len(usable), chance.choice((1, 1, 1, 2))))}
    yield from path.split()[1:]
    if path == "cocli worker":
        yield "--once"
    if path == "cocli supervisor":
        yield from ("--for", "1s")
    arguments = []
    for parameter in usable:
        is_option = parameter.param_type_name == "option"
        if id(parameter) in hostile:
            value = _hostile(parameter, chance, paths)
        elif parameter.required or parameter.name == "campaign" or chance.random() < 0.1:
            value = GOOD.get(parameter.name, "1")
        else:
            continue
        if not is_option:
            arguments.append(value)
        elif _is_flag(parameter):
            yield parameter.opts[-1]
        elif chance.random() < 0.5 and parameter.opts[0].startswith("--"):
            yield f"{parameter.opts[0]}={value}"
        else:
            yield from (parameter.opts[0], value)
    if chance.random() < 0.2:
        yield "--json"
    if any(value.startswith("-") and value != "-" for value in arguments):
        yield "--"
    yield from arguments


def _is_usable(parameter: Any) -> bool:
    return parameter.name not in ("help", "json", "quiet") and not set(LEFT_OUT) & set(parameter.opts)


def _is_flag(parameter: Any) -> bool:
    return bool(getattr(parameter, "is_flag", False))


def _hostile(parameter: Any, chance: random.Random, paths: tuple[str, ...]) -> str:
    if parameter.name == "store":
        return chance.choice((*STORES, *paths))
    return chance.choice(chance.choice((NUMBERS, TEXTS, TEXTS, paths)))
