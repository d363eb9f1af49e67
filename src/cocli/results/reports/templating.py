"""Pages from templates: texts are escaped, numbers and times are written one way, and the policy names what may run.

A page allows exactly the style sheet and the script that are in it, by their hashes, and no other host.
"""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

if TYPE_CHECKING:
    from datetime import datetime

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_LONGEST = 60
_LEAST = 0.001
_KILO = 1000


def rendered(template: str, *, css: str, script: str | None = None, **values: Any) -> str:
    """A template of `templates/`, with its style sheet and script in it."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {
        "plain": plain_text,
        "short": _short,
        "number": number_text,
        "percent": _percent,
        "moment": _moment,
        "size": size_text,
    }
    styles, code = _file(css), _file(script) if script else ""
    return environment.from_string(_file(template)).render(
        css=Markup(styles),  # noqa: S704  ours
        css_hash=_hash(styles),
        script=Markup(code),  # noqa: S704  ours
        script_hash=_hash(code),
        **values,
    )


def plain_text(text: str) -> str:
    """One line without control characters, and without marks that hide or reorder what is read."""
    if text.isascii() and text.isprintable():
        return text.strip()
    kept = (" " if char in "\t\n\r" else char for char in text)
    return "".join(char for char in kept if unicodedata.category(char) not in _UNSEEN).strip()


def number_text(value: float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}"


def size_text(count: int) -> str:
    """`1.2 MB`, as people say it."""
    size, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB"):
        if size < _KILO:
            break
        size, unit = size / _KILO, larger
    if unit == "bytes":
        return f"{count} bytes"
    return f"{size:.1f} {unit}"


def _file(name: str) -> str:
    return (resources.files("cocli.results.reports") / "templates" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _percent(value: float | None) -> str:
    """Not rounded to everything or nothing: 100% is all of them, and 0% none."""
    if value is None:
        return ""
    if value in (0, 1):
        return f"{value:.0%}"
    if value < _LEAST:
        return f"< {_LEAST:.1%}"
    if value > 1 - _LEAST:
        return f"> {1 - _LEAST:.1%}"
    return f"{value:.1%}"


def _short(text: str) -> str:
    """Enough of a text to know it by."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 1].rstrip()}…"


def _moment(value: datetime) -> str:
    """With the name of the time zone that it is in."""
    return f"{value:%Y-%m-%d %H:%M} {value.tzinfo or 'UTC'}"
