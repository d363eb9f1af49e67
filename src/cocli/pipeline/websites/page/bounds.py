"""What is cut from a page before it is parsed, so that hostile HTML costs linear time and bounded memory.

A tree builder that follows the standard takes quadratic time for deep nesting and for thousands of attributes, and
quadratic memory for formatting elements that are never closed: 13 kB of `<b x=1><b x=2>…<p>a<p>a…` become a
million nodes; a list of ten thousand options costs seconds. The scan here follows the standard closely enough to see
these, and takes tags away until they are harmless. It never takes text away. Ordinary pages come out unchanged.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from cocli.pipeline.websites.page.wordlist import words

MAX_CHARS = 3_000_000
"""Characters of a page that are read. What is longer keeps its beginning, and its end, where footers are."""
TAIL_CHARS = 200_000
MAX_TAGS = 60_000
MAX_DEPTH = 200
MAX_ATTRIBUTES = 100
MAX_FORMATTING = 4
MAX_OPTIONS = 2_000
"""The tree builder looks at all options of a list with each new one."""

_FEW_TAGS = 6_000
"""Nested in each other, so many cost a tenth of a second."""
_FEW_NODES = 300_000
"""Formatting elements times tags: the nodes that unclosed ones can become at worst, 100 MB."""
_LONG_TAG = 2_000

_ONE_ATTRIBUTE = r"""[^\s/>][^\s/>=]*+(?>\s*+=\s*+(?>"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+|(?=>)))?+"""
_ATTRIBUTE = re.compile(_ONE_ATTRIBUTE)
_TAG = re.compile(rf"<(/?)([a-zA-Z][^\s/>]*+)(?>[\s/]++|{_ONE_ATTRIBUTE})*+>")

_VOID = words("area base br col embed hr img input link meta param source track wbr")
_CLOSES_ITSELF = words(
    """
    p li dt dd td th tr tbody thead tfoot option optgroup colgroup caption rt rp a button
    """
)
_OPTIONS = words("option optgroup")
_RAW = words("script style textarea title xmp iframe noembed noframes")
_FORMATTING = words("b big code em font i nobr s small strike strong tt u")
_FOREIGN = frozenset(("svg", "math"))
_TRANSPARENT = words("span label abbr cite dfn kbd q samp sub sup time var mark bdi bdo ins del") | _FORMATTING
"""Elements that an end tag reaches through; any other open element stops the end tag of these."""


_FORMATTING_START = re.compile(rf"<(?:{'|'.join(sorted(_FORMATTING))})(?=[\s/>])", re.IGNORECASE)
_MANY_ATTRIBUTES = re.compile(rf"<[a-zA-Z][^\s/>]*+(?>[\s/]*+{_ONE_ATTRIBUTE}){{{MAX_ATTRIBUTES}}}")


def tame(html: str) -> str:
    """The page, harmless to a parser."""
    if len(html) > MAX_CHARS:
        html = html[: MAX_CHARS - TAIL_CHARS] + html[-TAIL_CHARS:]
    if _cannot_harm(html):
        return html
    scan = _Scan(html)
    scan.run()
    return scan.result()


def _cannot_harm(html: str) -> bool:
    """Is there too little of everything, whatever its order? So it is with ordinary pages, and quickly seen."""
    tags = html.count("<")
    if tags > _FEW_TAGS:
        return False
    if tags * tags > _FEW_NODES and len(_FORMATTING_START.findall(html)) * tags > _FEW_NODES:
        return False
    return _MANY_ATTRIBUTES.search(html) is None


@dataclass(slots=True)
class _Scan:
    """One pass over the tags of a page, and the pieces of it that stay."""

    html: str
    kept: list[str] = field(default_factory=list)
    kept_until: int = 0
    stack: list[str] = field(default_factory=list)
    open_formatting: Counter[str] = field(default_factory=Counter)
    unclosed: int = 0
    foreign: int = 0
    """SVG and MathML elements that are open: in them, a style or a title is an element like any other."""
    dropped: Counter[str] = field(default_factory=Counter)
    options: int = 0

    def run(self) -> None:
        html, at, tags = self.html, 0, 0
        while (at := html.find("<", at)) >= 0:
            if html.startswith("<!", at) or html.startswith("<?", at):
                at = self._after_comment(at)
                continue
            match = _TAG.match(html, at)
            if match is None:
                if html[at + 1 : at + 2].isalpha() or html.startswith("</", at):
                    self._cut(at, len(html))  # a tag that never ends: a parser drops it too
                    return
                at += 1
                continue
            tags += 1
            if tags > MAX_TAGS:
                self._cut(at, len(html))
                return
            at = match.end()
            name = match[2].lower()
            if match[1]:
                self._end(name, match)
            else:
                self._start(name, match)
                if name in _RAW and not self.foreign:
                    at = self._after_raw(name, at)

    def result(self) -> str:
        if not self.kept_until:
            return self.html
        return "".join((*self.kept, self.html[self.kept_until :]))

    def _start(self, name: str, match: re.Match[str]) -> None:
        if match.end() - match.start() > _LONG_TAG:
            self._shorten(match)
        if name in _OPTIONS:
            self.options += 1
            if self.options > MAX_OPTIONS:
                self._drop(name, match)
                return
        if name in _VOID or name in _CLOSES_ITSELF or (self.html[match.end() - 2] == "/" and self.foreign):
            return
        if name in _FORMATTING:
            if self.unclosed >= MAX_FORMATTING:
                self._drop(name, match)
                return
            self.unclosed += 1
            self.open_formatting[name] += 1
        if len(self.stack) >= MAX_DEPTH:
            self._drop(name, match)
        elif name not in _RAW or self.foreign:
            self.stack.append(name)
            self.foreign += name in _FOREIGN

    def _end(self, name: str, match: re.Match[str]) -> None:
        if self.dropped[name]:
            self.dropped[name] -= 1
            self._cut(match.start(), match.end())
            return
        if name in _FORMATTING and self.open_formatting[name]:
            self.open_formatting[name] -= 1
            self.unclosed -= 1
        for index in range(len(self.stack) - 1, -1, -1):
            if self.stack[index] == name:
                self.foreign -= sum(open_name in _FOREIGN for open_name in self.stack[index:]) if self.foreign else 0
                del self.stack[index:]
                return
            if name in _TRANSPARENT and self.stack[index] not in _TRANSPARENT:
                return

    def _drop(self, name: str, match: re.Match[str]) -> None:
        self.dropped[name] += 1
        self._cut(match.start(), match.end())

    def _cut(self, start: int, end: int) -> None:
        if start >= self.kept_until:
            self.kept.append(self.html[self.kept_until : start])
            self.kept_until = end

    def _shorten(self, match: re.Match[str]) -> None:
        """Keep the first attributes of a tag that has very many."""
        for count, attribute in enumerate(_ATTRIBUTE.finditer(self.html, match.end(2), match.end() - 1)):
            if count >= MAX_ATTRIBUTES:
                self._cut(attribute.start(), match.end() - 1)
                return

    def _after_comment(self, at: int) -> int:
        closing = "-->" if self.html.startswith("<!--", at) else ">"
        end = self.html.find(closing, at + 2)
        if end < 0:
            return len(self.html)
        return end + len(closing)

    def _after_raw(self, name: str, at: int) -> int:
        """Past the text of a script or the like, to its end tag. Text that never ends is the rest of the page."""
        end = _RAW_END[name].search(self.html, at)
        if end is None:
            return len(self.html)
        return end.start()


_RAW_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _RAW}
