"""Markdown with YAML front matter: the files of the CRM, which people edit.

A program owns one front-matter key, `cocli:`. Updating it replaces the lines of that key and nothing else: the body,
other keys, their order, quoting, comments and line ends stay byte for byte what the person wrote. The YAML is never
dumped anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import ValidationError

from cocli.errors import FormatError, RecordError
from cocli.formats import yaml_text
from cocli.models.record import Record, RecordPart, explain

if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM_KEY = "cocli"
_BOM = "\ufeff"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

R = TypeVar("R", bound=Record)


def read(model: type[R], data: bytes, *, file: str = "<memory>") -> R:
    """The front matter as a record: what the person wrote, and the program's part."""
    document = MarkdownFile.parse(data, file=file)
    try:
        return model.model_validate({str(name): value for name, value in document.front.items()})
    except ValidationError as error:
        raise FormatError(file=file, line=1, reason=f"does not fit {model.schema_id}: {explain(error)}") from error


def update(data: bytes, facts: RecordPart | None, *, file: str = "<memory>") -> bytes:
    """The file with the program's part replaced (removed for None), and everything else untouched."""
    values = None if facts is None else facts.model_dump(mode="json", exclude_none=True)
    return MarkdownFile.parse(data, file=file).with_program(values).render()


@dataclass(frozen=True)
class MarkdownFile:
    """A file cut into its parts. `bom + opening + front_text + closing + body` is the file, always."""

    file: str
    bom: str
    opening: str
    front_text: str
    closing: str
    body: str

    @classmethod
    def parse(cls, data: bytes, *, file: str = "<memory>") -> MarkdownFile:
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise FormatError(file=file, line=line, reason="not UTF-8") from error
        bom = _BOM if text.startswith(_BOM) else ""
        opening, front, closing, body = _cut(text[len(bom) :], file)
        document = cls(file, bom, opening, front, closing, body)
        _ = document.front  # broken front matter is found now, not when it is first looked at
        return document

    def render(self) -> bytes:
        try:
            return f"{self.bom}{self.opening}{self.front_text}{self.closing}{self.body}".encode()
        except UnicodeEncodeError as error:
            reason = "a text contains a lone surrogate, which no UTF-8 file can hold"
            raise RecordError(model="front matter", reason=reason) from error

    @cached_property
    def front(self) -> Mapping[Any, Any]:
        """All keys of the front matter with their values."""
        return _load(self.front_text, self.file)

    @property
    def program(self) -> Mapping[str, Any] | None:
        """What stands under the program's key."""
        value = self.front.get(PROGRAM_KEY)
        if value is not None and not isinstance(value, dict):
            raise FormatError(file=self.file, line=1, reason=f"{PROGRAM_KEY}: expected keys below it")
        return value

    def with_program(self, values: Mapping[str, Any] | None) -> MarkdownFile:
        """The same file with other lines under the program's key. The values are plain data."""
        if values is None:
            return self._with_lines(PROGRAM_KEY, None, None)
        text = yaml_text.block(PROGRAM_KEY, values, self._newline)
        return self._with_lines(PROGRAM_KEY, text, dict(values))

    def with_value(self, name: str, value: Any) -> MarkdownFile:
        """The same file with another value of one key, on one line; None takes the key away."""
        text = None if value is None else yaml_text.line(name, value, self._newline)
        return self._with_lines(name, text, value)

    @property
    def _newline(self) -> str:
        first_line = (self.opening or self.body).partition("\n")[0]
        return "\r\n" if first_line.endswith("\r") else "\n"

    def _with_lines(self, name: str, text: str | None, expected: Any) -> MarkdownFile:
        lines = _LINE.findall(self.front_text)
        new = [] if text is None else [text]
        fence = f"---{self._newline}" if new else ""
        first, last = self._lines_of(name, len(lines))
        front = "".join([*lines[:first], *new, *lines[last:]])
        changed = MarkdownFile(
            file=self.file,
            bom=self.bom,
            opening=self.opening or fence,
            front_text=front,
            closing=self.closing or fence,
            body=self.body,
        )
        self._check_others_untouched(changed, name, expected)
        return changed

    def _lines_of(self, name: str, end: int) -> tuple[int, int]:
        """The lines of a key, or the empty place after the last line."""
        node = _compose(self.front_text, self.file)
        if node is None:
            return end, end
        if node.flow_style:
            reason = "the front matter is written in braces; write one key per line"
            raise FormatError(file=self.file, line=2, reason=reason)
        found = [(key, value) for key, value in node.value if key.value == name]
        if len(found) > 1:
            raise FormatError(file=self.file, line=found[1][0].start_mark.line + 2, reason=f"{name}: occurs twice")
        if not found:
            return end, end
        key, value = found[0]
        return key.start_mark.line, max(key.end_mark.line, _last_line(value)) + 1

    def _check_others_untouched(self, changed: MarkdownFile, name: str, expected: Any) -> None:
        """An anchor inside the lines that is used elsewhere, say, would break: then nothing is changed."""
        others = [key for key in self.front if key != name]
        kept = [key for key in changed.front if key != name]
        if others != kept or changed.front.get(name) != expected:
            reason = f"the lines of {name}: cannot be replaced without touching others"
            raise FormatError(file=self.file, line=1, reason=reason)


def _cut(text: str, file: str) -> tuple[str, str, str, str]:
    lines = _LINE.findall(text)
    if not lines or not lines[0].startswith("---") or lines[0].startswith("----"):
        return "", "", "", text
    if lines[0].rstrip() != "---":
        reason = 'the front matter begins with "---" on a line of its own'
        raise FormatError(file=file, line=1, reason=reason)
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return lines[0], "".join(lines[1:number]), line, "".join(lines[number + 1 :])
    raise FormatError(file=file, line=1, reason='the front matter is not closed by a line "---"')


def _compose(text: str, file: str) -> yaml.MappingNode | None:
    try:
        node = yaml_text.compose(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 2
        raise FormatError(file=file, line=line, reason=f"not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, yaml_text.ForeignTag, RecursionError) as error:
        raise FormatError(file=file, line=2, reason=f"not YAML: {error}") from error
    if node is not None and not isinstance(node, yaml.MappingNode):
        raise FormatError(file=file, line=2, reason="the front matter has no keys")
    return node


def _load(text: str, file: str) -> Mapping[Any, Any]:
    if _compose(text, file) is None:
        return {}
    try:
        values = yaml_text.load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FormatError(file=file, line=2, reason=f"not YAML: {error}") from error
    return values if isinstance(values, dict) else {}


def _last_line(node: yaml.Node) -> int:
    """The last line that a value stands on. The end that YAML reports for a block lies past its trailing comments."""
    children = node.value
    if isinstance(node, yaml.MappingNode):
        children = [part for pair in node.value for part in pair]
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and children:
        return max(map(_last_line, children))
    end = node.end_mark
    last = end.line - 1 if end.column == 0 else end.line
    return max(node.start_mark.line, last)
