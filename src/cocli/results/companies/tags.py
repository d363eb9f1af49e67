"""Adding and taking away a tag: the one change of a person's own key that a program makes, because they asked for it.

The tag is put where the person's list is, in the way that they write it; every other byte stays. What came out is
read again and compared: where anything else would change, nothing is written, and the person is told to edit it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from cocli.errors import FormatError, UsageError
from cocli.formats import yaml_text
from cocli.formats.markdown import MarkdownFile
from cocli.results.companies.drafts import written
from cocli.results.companies.pages import read_company

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "tags"
_LONGEST = 100


def check_tag(tag: str) -> str:
    """A tag as it is stored: one line, no commas, not blank."""
    stripped = tag.strip()
    if not stripped or len(stripped) > _LONGEST or "," in stripped or not stripped.isprintable():
        raise UsageError(
            reason=f"{tag[:40]!a} cannot be a tag", hint=f"Use 1 to {_LONGEST} printable characters, no comma."
        )
    return stripped


def with_tag(data: bytes, tag: str, *, file: str) -> bytes:
    """The file with the tag; the same bytes where it has it."""
    tags = list(read_company(data, file=file).tags)
    if tag in tags:
        return data
    return _edited(data, [*tags, tag], lambda front: _added(front, tag), file)


def without_tag(data: bytes, tag: str, *, file: str) -> bytes:
    """The file without the tag; the same bytes where it does not have it."""
    tags = list(read_company(data, file=file).tags)
    left = [known for known in tags if known != tag]
    if left == tags:
        return data
    return _edited(data, left, lambda front: _removed(front, tag), file)


def _edited(data: bytes, expected: list[str], edit: Callable[[str], str | None], file: str) -> bytes:
    before = MarkdownFile.parse(data, file=file)
    front = edit(before.front_text)
    if front is not None:
        newline = "\n"
        if (before.opening or before.body).partition("\n")[0].endswith("\r"):
            newline = "\r\n"
        after = MarkdownFile(
            file=file,
            bom=before.bom,
            opening=before.opening or f"---{newline}",
            front_text=front if newline == "\n" else front.replace("\r\n", "\n").replace("\n", "\r\n"),
            closing=before.closing or f"---{newline}",
            body=before.body,
        ).render()
        if _is_as_expected(before, after, expected, file):
            return after
    raise FormatError(
        file=file,
        line=1,
        reason="its tags are written in a way that cannot be changed without touching other lines",
        hint="Edit them by hand.",
    )


def _is_as_expected(before: MarkdownFile, after: bytes, expected: list[str], file: str) -> bool:
    try:
        now = MarkdownFile.parse(after, file=file)
        tags = list(read_company(after, file=file).tags)
    except FormatError:
        return False
    others = {name: value for name, value in before.front.items() if name != KEY}
    return tags == expected and {name: value for name, value in now.front.items() if name != KEY} == others


def _node(front: str) -> tuple[yaml.Node, yaml.Node] | None:
    root = yaml_text.compose(front)
    if not isinstance(root, yaml.MappingNode):
        return None
    return next(((key, value) for key, value in root.value if key.value == KEY), None)


def _added(front: str, tag: str) -> str | None:
    found, word = _node(front), written(tag)
    if found is None:
        newline = "" if not front or front.endswith("\n") else "\n"
        return f"{front}{newline}{KEY}: [{word}]\n"
    value = found[1]
    if isinstance(value, yaml.SequenceNode):
        return _added_to_list(front, value, word)
    if isinstance(value, yaml.ScalarNode):
        begin, end = value.start_mark.index, value.end_mark.index
        if begin == end:  # `tags:` and nothing behind it
            colon = front.index(":", found[0].end_mark.index) + 1
            return f"{front[:colon]} [{word}]{front[colon:]}"
        only = front[begin:end].rstrip()
        return f"{front[:begin]}[{only}, {word}]{front[begin + len(only) :]}"
    return None


def _added_to_list(front: str, value: yaml.SequenceNode, word: str) -> str | None:
    if value.flow_style:
        close = value.end_mark.index - 1
        if not value.value:
            return f"{front[:close]}{word}{front[close:]}"
        last = value.value[-1].end_mark.index
        return f"{front[:last]}, {word}{front[last:]}"
    item = value.value[-1]
    dash = front.rindex("-", 0, item.start_mark.index)
    indent = front[front.rfind("\n", 0, dash) + 1 : dash]
    end = front.find("\n", item.end_mark.index if item.end_mark.index > item.start_mark.index else dash)
    end = len(front) if end < 0 else end + 1
    newline = "" if front[:end].endswith("\n") else "\n"
    return f"{front[:end]}{newline}{indent}- {word}\n{front[end:]}"


def _removed(front: str, tag: str) -> str | None:
    found = _node(front)
    if found is None:
        return None
    value = found[1]
    if isinstance(value, yaml.ScalarNode):
        return f"{front[: value.start_mark.index]}[]{front[value.end_mark.index :]}"
    if not isinstance(value, yaml.SequenceNode):
        return None
    for number in reversed(range(len(value.value))):  # from the end, so that earlier positions stay right
        item = value.value[number]
        if isinstance(item, yaml.ScalarNode) and item.value == tag:
            front = _without_item(front, value, number)
    return front


def _without_item(front: str, value: yaml.SequenceNode, number: int) -> str:
    items = value.value
    item = items[number]
    if value.flow_style:
        if number:
            return front[: items[number - 1].end_mark.index] + front[item.end_mark.index :]
        following = items[1].start_mark.index if len(items) > 1 else item.end_mark.index
        return front[: item.start_mark.index] + front[following:]
    dash = front.rindex("-", 0, item.start_mark.index)
    begin = front.rfind("\n", 0, dash) + 1
    end = front.find("\n", item.end_mark.index)
    rest = "" if end < 0 else front[end + 1 :]
    if len(items) == 1:  # a key without its list would be null: say that the list is empty
        head = front[:begin].rstrip("\r\n")
        return f"{head} []\n{rest}"
    return front[:begin] + rest
