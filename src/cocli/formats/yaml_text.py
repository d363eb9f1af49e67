"""YAML for front matter: a safe loader without surprises, and values written so that every text survives."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class FrontMatterLoader(yaml.SafeLoader):
    """YAML as people mean it: `NO` is a text, not false; `0123` and `+1310…` are texts, not numbers."""

    # Filled in below; without its own table the class would change the one of SafeLoader.
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


_IMPLICIT = (
    ("tag:yaml.org,2002:null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("tag:yaml.org,2002:int", r"-?(?:0|[1-9][0-9]*)", list("-0123456789")),
    ("tag:yaml.org,2002:float", r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?", list("-0123456789")),
    ("tag:yaml.org,2002:timestamp", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", list("0123456789")),
    ("tag:yaml.org,2002:merge", r"<<", ["<"]),
)
for _tag, _pattern, _first in _IMPLICIT:
    FrontMatterLoader.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern})\Z"), _first)

_PLAIN_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "timestamp", "merge", "str", "seq", "map")
)


class ForeignTag(ValueError):
    """A tag that asks the loader to build something other than plain data."""


def compose(text: str) -> yaml.Node | None:
    """The nodes of a document, with where each stands. Tags such as `!!python/object` are refused."""
    node = cast("yaml.Node | None", yaml.compose(text, FrontMatterLoader))
    if node is not None:
        for inner in _walk(node):
            if inner.tag not in _PLAIN_TAGS:
                tag = inner.tag.replace("tag:yaml.org,2002:", "!!")
                raise ForeignTag(f"the tag {tag} in line {inner.start_mark.line + 1} is refused: plain data only")
    return node


def load(text: str) -> Any:
    # Derived from SafeLoader, and the tags were looked at before.
    return yaml.load(text, FrontMatterLoader)  # noqa: S506


def _walk(root: yaml.Node) -> Iterator[yaml.Node]:
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue  # an alias may lead back to its own anchor
        seen.add(id(node))
        yield node
        if isinstance(node, yaml.MappingNode):
            waiting.extend(part for pair in node.value for part in pair)
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)


def block(key: str, values: Mapping[str, Any], newline: str) -> str:
    """A top-level key with one line per value, each value as JSON, which is YAML as well."""
    if not values:
        return f"{key}: {{}}{newline}"
    return f"{key}:{newline}" + "".join(f"  {name}: {_scalar(value)}{newline}" for name, value in values.items())


def line(key: str, value: Any, newline: str) -> str:
    """A top-level key with its value on the same line."""
    name = key if _BARE.fullmatch(key) else _scalar(key)
    return f"{name}: {_scalar(value)}{newline}"


_BARE = re.compile(r"(?!(?:true|false|null)\Z)[a-z][\w-]*", re.IGNORECASE | re.ASCII)
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_EXPONENT = re.compile(r"(?<![\w.])(-?[0-9]+)(?=e[-+]?[0-9])")


def _scalar(value: Any) -> str:
    # YAML 1.1 folds some characters as line ends and knows no float without a point: JSON does both.
    if isinstance(value, float):
        return _EXPONENT.sub(r"\1.0", repr(value))
    if isinstance(value, list):
        return f"[{', '.join(map(_scalar, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_scalar(str(name))}: {_scalar(item)}' for name, item in value.items())}}}"
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
