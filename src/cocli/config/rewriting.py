"""One change, written into a TOML text: the line of the setting, and nothing else.

A new setting comes where a person looks for it: below the line that shows it as a comment, in its section. A section
that is commented out as a whole is opened: the `#` before its heading goes. So what is written stays in its section
also when somebody opens the next one. What cannot be written that way is left to `edit`, which asks a library.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cocli.config.lines import Path, TomlHeader, TomlLayout, TomlPair, join_key, layout

_COMMENTED_HEADING = re.compile(
    r"[ \t]*#[ \t]*(?P<heading>\[\[?(?P<name>[^\[\]#\n]+)\]\]?)[ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE
)

Edit = Callable[[Any, str], None]
"""Changes the value of a name in a table of tomlkit."""


def changed_value(text: str, path: tuple[str, ...], edit: Edit) -> str | None:
    """The text with one value changed where it stands; None if no line of the text sets it."""
    import tomlkit

    pair = _around(layout(text), path)
    if pair is None:
        return None
    document = tomlkit.parse(f"value = {text[pair.value : pair.end]}\n")
    *tables, name = ("value", *path[len(pair.path) :])
    table: Any = document
    for part in tables:
        table = table[part]
    edit(table, name)
    value = tomlkit.dumps(document).removesuffix("\n").partition("=")[2].strip()
    return f"{text[: pair.value]}{value}{text[pair.end :]}"


def without_value(text: str, path: tuple[str, ...]) -> str | None:
    """The text without the lines of one setting; the comment behind it stays. None if no line sets it as a whole."""
    found = [pair for pair in layout(text).pairs if pair.path == path]
    if not found:
        return None
    pair = found[0]
    line, end = _line_start(text, pair.start), _line_end(text, pair.end)
    comment = text[pair.end : end].strip()
    rest = f"{comment}{_newline(text)}" if comment else ""
    return f"{text[:line]}{rest}{text[end:]}"


def with_new_value(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with a setting that it does not have yet, in its section."""
    *section, name = path
    line = f"{join_key((name,))} = {_written(value)}"
    where = layout(text)
    header = next((heading for heading in where.headers if heading.path == tuple(section)), None)
    if header is None:
        opened = _with_opened_section(text, where, tuple(section))
        if opened is None:
            return _appended(text, f"[{join_key(tuple(section))}]", line)
        text = opened
        where = layout(text)
        header = next(heading for heading in where.headers if heading.path == tuple(section))
    return _inserted(text, _place_for(text, where, header, name), line)


def with_new_element(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str | None:
    """The text with one more `[[table]]`, behind the last one; None if it has none."""
    where = layout(text)
    elements = [header for header in where.headers if header.path[:-1] == path and isinstance(header.path[-1], int)]
    if not elements:
        return None
    last = elements[-1]
    own = [pair for pair in where.pairs if pair.path[: len(last.path)] == last.path]
    lines = [f"{join_key((name,))} = {_written(part)}" for name, part in value.items()]
    end = own[-1].end if own else last.end
    return _inserted(text, end, "", f"[[{join_key(path)}]]", *lines)


def _around(where: TomlLayout, path: tuple[str, ...]) -> TomlPair | None:
    """The pair that sets a path, or the table in which it is written inline."""
    found = [pair for pair in where.pairs if path[: len(pair.path)] == pair.path]
    return found[0] if len(found) == 1 else None


def _place_for(text: str, where: TomlLayout, header: TomlHeader, name: str) -> int:
    """Behind which position a new line belongs: the comment that shows the setting, the last one, or the heading."""
    end = min((other.start for other in where.headers if other.start > header.start), default=len(text))
    pairs = {_line_start(text, pair.start): pair for pair in where.pairs if header.end <= pair.start < end}
    place, position = header.end, _line_end(text, header.end)
    while position < end:
        if pair := pairs.get(position):
            place = pair.end
        elif _COMMENTED_HEADING.match(text, position):
            break
        elif re.compile(rf"[ \t]*#[ \t]*{re.escape(name)}[ \t]*=").match(text, position):
            return position
        position = _line_end(text, pair.end if pair else position)
    return place


def _with_opened_section(text: str, where: TomlLayout, section: Path) -> str | None:
    """The text with the heading that is commented out; None if there is none, or other values would fall below it."""
    taken = [*((pair.start, pair.end) for pair in where.pairs), *((head.start, head.end) for head in where.headers)]
    for match in _COMMENTED_HEADING.finditer(text):
        start = match.start("heading")
        if match["heading"].startswith("[[") or _names(match["name"]) != section:
            continue
        if match.start() != _line_start(text, match.start()) or any(first <= start < last for first, last in taken):
            continue
        following = min((first for first, _ in taken if first > start), default=None)
        if following is not None and text[following] != "[":
            continue
        return f"{text[: match.start()]}{text[start:]}"
    return None


def _names(dotted: str) -> Path | None:
    from tomllib import TOMLDecodeError

    from cocli.config.lines import split_key

    try:
        return split_key(dotted)
    except TOMLDecodeError:  # a comment that only looks like a heading
        return None


def _inserted(text: str, place: int, *lines: str) -> str:
    """The text with lines behind the line that holds a position."""
    end = _line_end(text, place)
    newline = _newline(text)
    head = text[:end]
    if head and not head.endswith("\n"):
        head += newline
    return head + "".join(f"{line}{newline}" for line in lines) + text[end:]


def _appended(text: str, *lines: str) -> str:
    newline = _newline(text)
    if text and not text.endswith("\n"):
        text += newline
    blank = newline if text else ""
    return text + blank + "".join(f"{line}{newline}" for line in lines)


def _written(value: Any) -> str:
    """A value on one line."""
    import tomlkit

    if isinstance(value, dict):
        pairs = (f"{join_key((name,))} = {_written(part)}" for name, part in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_written, value))}]"
    return str(tomlkit.item(value).as_string())


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def _line_end(text: str, position: int) -> int:
    """Where the next line begins."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
