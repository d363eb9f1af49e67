"""The built-in picker, for terminals without `fzf`: type to narrow a list down, arrows to move, Enter to take.

It draws on stderr and reads the keyboard from stdin, so that stdout stays for what was chosen.
"""

from __future__ import annotations

import codecs
import os
import select
import shutil
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Protocol, TextIO

from cocli.formats.safe_text import safe_line

_ROWS = 15
_FURNITURE = 3
"""Lines that are not entries: the prompt, the count, and one that stays free."""
_LONE_ESCAPE = 0.05
"""Seconds after which an escape is a key of its own: the rest of a sequence comes at once."""


class Choices(Protocol):
    """What can be picked from."""

    def __len__(self) -> int: ...

    def best(self, query: str, limit: int) -> tuple[list[int], bool]:
        """The numbers of the entries that fit, best first, and whether there are more."""
        ...

    def label(self, number: int) -> tuple[str, str]:
        """An entry's name, and what else is worth seeing."""
        ...


class Keystroke(Enum):
    """Keys that are no letters."""

    UP = auto()
    DOWN = auto()
    PAGE_UP = auto()
    PAGE_DOWN = auto()
    ENTER = auto()
    BACKSPACE = auto()
    CLEAR = auto()
    DELETE_WORD = auto()
    QUIT = auto()
    IGNORED = auto()


_CONTROLS = {
    "\r": Keystroke.ENTER,
    "\n": Keystroke.ENTER,
    "\x7f": Keystroke.BACKSPACE,
    "\x08": Keystroke.BACKSPACE,
    "\x15": Keystroke.CLEAR,
    "\x17": Keystroke.DELETE_WORD,
    "\x03": Keystroke.QUIT,
    "\x04": Keystroke.QUIT,
    "\x07": Keystroke.QUIT,
    "\x10": Keystroke.UP,
    "\x0b": Keystroke.UP,
    "\x0e": Keystroke.DOWN,
}
_SEQUENCES = {
    "[A": Keystroke.UP,
    "[B": Keystroke.DOWN,
    "OA": Keystroke.UP,
    "OB": Keystroke.DOWN,
    "[5~": Keystroke.PAGE_UP,
    "[6~": Keystroke.PAGE_DOWN,
}


def pick(choices: Choices, query: str, stderr: TextIO) -> int | None:
    """Let a person choose; the number of the entry, or None if they gave up."""
    keyboard = sys.stdin.fileno()
    state = _State(choices, query)
    with _raw(keyboard):
        keys = read_keys(keyboard)
        try:
            while True:
                _draw(state, stderr)
                key = next(keys, Keystroke.QUIT)
                if key is Keystroke.QUIT:
                    return None
                if key is Keystroke.ENTER:
                    if state.found:
                        return state.found[state.selected]
                else:
                    state.press(key)
        finally:
            stderr.write("\r\x1b[J")
            stderr.flush()


@dataclass(slots=True)
class _State:
    choices: Choices
    query: str
    selected: int = 0
    found: Sequence[int] = ()
    more: bool = False
    rows: int = field(default_factory=lambda: max(1, min(_ROWS, shutil.get_terminal_size().lines - _FURNITURE)))

    def __post_init__(self) -> None:
        self._search()

    def press(self, key: Keystroke | str) -> None:
        if isinstance(key, str):
            self._ask(self.query + key)
        elif key is Keystroke.BACKSPACE:
            self._ask(self.query[:-1])
        elif key is Keystroke.CLEAR:
            self._ask("")
        elif key is Keystroke.DELETE_WORD:
            self._ask(" ".join(self.query.split(" ")[:-1]))
        else:
            step = {
                Keystroke.UP: -1,
                Keystroke.DOWN: 1,
                Keystroke.PAGE_UP: -self.rows,
                Keystroke.PAGE_DOWN: self.rows,
            }.get(key, 0)
            self.selected = max(0, min(self.selected + step, len(self.found) - 1))

    def _ask(self, query: str) -> None:
        if query != self.query:
            self.query, self.selected = query, 0
            self._search()

    def _search(self) -> None:
        self.found, self.more = self.choices.best(self.query, 10 * self.rows)


def _draw(state: _State, stderr: TextIO) -> None:
    """The prompt, the count and the entries; then the cursor goes back behind what was typed."""
    from rich.cells import cell_len, set_cell_size

    width = max(20, shutil.get_terminal_size().columns - 1)
    first = max(0, state.selected - state.rows + 1)
    prompt = safe_line(f"> {state.query}")
    lines = [prompt, f"  {len(state.found)}{'+' if state.more else ''} of {len(state.choices):,}"]
    for place, number in enumerate(state.found[first : first + state.rows], start=first):
        name, detail = (safe_line(text) for text in state.choices.label(number))
        mark = ">" if place == state.selected else " "
        lines.append(f"{mark} {name}  {detail}" if detail else f"{mark} {name}")
    cut = [set_cell_size(line, width) if cell_len(line) > width else line for line in lines]
    back = f"\x1b[{len(cut) - 1}A" if len(cut) > 1 else ""
    stderr.write("\r\x1b[J" + "\r\n".join(cut) + f"{back}\r\x1b[{min(cell_len(prompt), width)}C")
    stderr.flush()


@contextmanager
def _raw(keyboard: int) -> Iterator[None]:
    """Every key at once and unseen; the terminal is as before afterwards, whatever happens."""
    before = termios.tcgetattr(keyboard)
    try:
        tty.setraw(keyboard, termios.TCSADRAIN)
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def read_keys(keyboard: int) -> Iterator[Keystroke | str]:
    """Letters and keys as they are typed; ends when the terminal is closed."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    waiting = ""
    while True:
        if not waiting:
            data = os.read(keyboard, 4096)
            if not data:
                return
            waiting = decoder.decode(data)
            continue
        if waiting == "\x1b" or waiting in ("\x1b[", "\x1bO"):
            ready, _, _ = select.select([keyboard], [], [], _LONE_ESCAPE)
            if ready and (data := os.read(keyboard, 4096)):
                waiting += decoder.decode(data)
        key, waiting = _first_key(waiting)
        yield key


def _first_key(text: str) -> tuple[Keystroke | str, str]:
    """The first key of what was typed, and the rest."""
    if text[0] != "\x1b":
        letter = text[0]
        return _CONTROLS.get(letter, letter if letter.isprintable() else Keystroke.IGNORED), text[1:]
    if text[1:2] not in ("[", "O"):
        return Keystroke.QUIT, text[1:]
    end = 2
    while end < len(text) and not ("@" <= text[end] <= "~"):
        end += 1
    return _SEQUENCES.get(text[1 : end + 1], Keystroke.IGNORED), text[end + 1 :]
