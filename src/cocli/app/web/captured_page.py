"""A captured page as evidence: without script, forms and other hosts, with the values of a company marked in it.

The response has a policy that forbids all of that too (`CAPTURED_POLICY`); this is the second wall, and it keeps the
page readable: where the policy would leave a hole, there is nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from selectolax.lexbor import LexborNode

MOST_BYTES = 4 << 20
"""Of a page that is shown; longer ones are cut."""
_MOST_MARKS = 200
_DROPPED = (
    *("script", "noscript", "iframe", "frame", "frameset", "object", "embed", "applet", "link", "meta", "base"),
    *("form", "input", "button", "select", "textarea", "audio", "video", "source", "track", "portal", "template"),
)
_KEPT_FORMS = ("form", "button")
_SHOWN_ATTRIBUTES = frozenset(
    (
        "class",
        "id",
        "style",
        "title",
        "alt",
        "lang",
        "dir",
        "colspan",
        "rowspan",
        "width",
        "height",
        "align",
        "datetime",
    )
)
_ADDRESSED = ("href", "src", "data-src", "content")
_STYLE_ADDRESS = re.compile(r"url\s*\(|@import|expression\s*\(|\\", re.IGNORECASE)
_HEAD = '<!doctype html><html><head><meta charset="utf-8"><title>Captured page</title><style>{style}</style></head>'
_MARK_STYLE = "mark{background:#ffe066;color:#000;outline:2px solid #b35c00}"
_BETWEEN = r"(?:[\s().\-/]|&nbsp;|&#160;){0,3}"
"""What may stand between two digits of a number."""
_DIGITS = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class MarkedValue:
    """A value that is looked for in a page."""

    field: str
    texts: tuple[str, ...]


def spots_of(values: Mapping[str, object]) -> list[MarkedValue]:
    """What to look for, by field: texts as they stand, numbers by their digits."""
    spots = []
    for field, value in values.items():
        texts = [str(item) for item in value] if isinstance(value, (list, tuple)) else [str(value)]
        useful = tuple(text.strip() for text in texts if len(text.strip()) > 2)
        if useful:
            spots.append(MarkedValue(field, useful))
    return spots


def render_captured(data: bytes, spots: list[MarkedValue]) -> bytes:
    """The page as it may be shown; every place where a value stands is a `<mark>`."""
    tree = LexborHTMLParser(data[:MOST_BYTES].decode("utf-8", "replace"))
    links = _marked_links(tree, spots)
    for name in _DROPPED:
        for node in tree.css(name):
            _drop(node, keep=name in _KEPT_FORMS)
    _clean_attributes(tree)
    body = tree.body
    inner = body.html if body is not None and body.html else "<body></body>"
    marked = _mark(inner, spots)
    page = _HEAD.format(style=_MARK_STYLE) + links + marked + "</html>"
    return page.encode("utf-8", "replace")


def _drop(node: LexborNode, *, keep: bool) -> None:
    if keep:
        node.unwrap()
    else:
        node.decompose()


def _marked_links(tree: LexborHTMLParser, spots: list[MarkedValue]) -> str:
    """Values that stand in an attribute only (`mailto:`, `tel:`, a link) are shown above the page."""
    found: list[str] = []
    for node in tree.css("a[href], meta[content], link[href]"):
        for name in _ADDRESSED:
            address = node.attributes.get(name) or ""
            for spot in spots:
                if any(_is_in(text, address) for text in spot.texts) and len(found) < _MOST_MARKS:
                    mark = f'<mark class="value-{escape(_id(spot.field))}">{escape(address[:300])}</mark>'
                    found.append(f"<li>&lt;{escape(node.tag or '')}&gt; {mark}</li>")
    if not found:
        return ""
    unique = "".join(dict.fromkeys(found))
    return f"<details><summary>Values in links and descriptions of the page</summary><ul>{unique}</ul></details>"


def _is_in(text: str, address: str) -> bool:
    if text.casefold() in address.casefold():
        return True
    digits = "".join(_DIGITS.findall(text))
    return len(digits) >= 7 and digits[-7:] in "".join(_DIGITS.findall(address)) and address.startswith("tel:")


def _clean_attributes(tree: LexborHTMLParser) -> None:
    for node in tree.css("*"):
        for name, value in list(node.attributes.items()):
            is_hostile_style = name == "style" and _STYLE_ADDRESS.search(value or "") is not None
            if (
                name not in _SHOWN_ATTRIBUTES
                or is_hostile_style
                or (name == "id" and (value or "").startswith("value-"))
            ):
                del node.attrs[name]
    for node in tree.css("style"):
        if _STYLE_ADDRESS.search(node.text() or ""):
            node.decompose()


# --- marks


def _mark(html: str, spots: list[MarkedValue]) -> str:
    """Put marks around the values in the text between the tags. The first of a field has its id."""
    pattern, fields = _pattern(spots)
    if pattern is None:
        return html
    seen: set[str] = set()
    count = 0
    out: list[str] = []
    is_style = False
    for piece in re.split(r"(<[^>]*>)", html):
        if piece.startswith("<"):
            lowered = piece[:7].lower()
            is_style = lowered.startswith("<style") or (is_style and not lowered.startswith("</style"))
            out.append(piece)
            continue
        if is_style or count >= _MOST_MARKS:
            out.append(piece)
            continue

        def marked(found: re.Match[str]) -> str:
            nonlocal count
            count += 1
            field = fields[str(found.lastgroup)]
            name = f'class="value-{_id(field)}"'
            if field not in seen:
                seen.add(field)
                name += f' id="value-{_id(field)}"'
            return f"<mark {name}>{found[0]}</mark>"

        out.append(pattern.sub(marked, piece))
    return "".join(out)


def _pattern(spots: list[MarkedValue]) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    parts: list[str] = []
    fields: dict[str, str] = {}
    for spot in spots:
        for text in _spellings(spot):
            name = f"g{len(fields)}"
            fields[name] = spot.field
            parts.append(f"(?P<{name}>{text})")
            if len(fields) >= 90:
                break
    if not parts:
        return None, {}
    return re.compile("|".join(parts), re.IGNORECASE), fields


def _spellings(spot: MarkedValue) -> Iterator[str]:
    for text in sorted(spot.texts, key=len, reverse=True)[:8]:
        if spot.field.startswith("phone"):
            digits = _DIGITS.findall(text)
            if len(digits) >= 7:
                yield _number_spelling(digits)
        else:
            yield re.escape(escape(text, quote=False)).replace(r"\ ", r"\s+")


def _number_spelling(digits: list[str]) -> str:
    """A number as people write it: the last nine digits, and those before them where they stand there too."""
    before = ""
    for digit in digits[:-9]:
        before = f"(?:{before}{digit}{_BETWEEN})?"
    return rf"\+?\(?{before}{_BETWEEN.join(digits[-9:])}"


def _id(field: str) -> str:
    return re.sub(r"[^A-Za-z0-9_@.-]", "_", field)
