"""What is left alone, taken out of texts of any kind: pages, notes, logs. Found by its form, told by its hash."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from posixpath import commonprefix
from typing import TYPE_CHECKING

from cocli.pipeline.suppression.folding import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.pipeline.suppression.folding import Folded
    from cocli.pipeline.suppression.listing import SuppressionList

MARK = "[removed]"
"""What stands where a value stood. It is no address, no number and no name."""

_AT = r"(?:@|%40|&#0*64;|&#x0*40;|&commat;|\\u0040|\\x40)"
_DOT = r"(?:\.|%2e|&#0*46;|&#x0*2e;|&period;|\\u002e)"
_LABEL = r"[a-z0-9\u00a1-\uffff](?:[a-z0-9_\u00a1-\uffff-]{0,61}[a-z0-9\u00a1-\uffff])?"
_HOST = rf"{_LABEL}(?:{_DOT}{_LABEL})+"
_LOCAL = r"(?:[a-z0-9!#$'*+/=?^_`{|}~.\u00a1-\uffff-]|%2[be])+"
_QUOTE = r"(?:\\{0,3}\"{1,2}|%22|&quot;|&#0*34;|&#x0*22;|\\u0022)"
_QUOTED = r"(?:[^\"\\%&@<>\r\n]|%(?!22)|&(?!quot;|#0*34;|#x0*22;)){1,64}+"
"""Between quotes a local part may have spaces: `"jane doe"@firm.example`."""
_PHONE = re.compile(
    r"(?<![^\W_])(?<!\.)(?:\+|%2b|\(|\d)(?:[\d\u00a0\t ()./_\u2010-\u2015-]|%20|%2b|&nbsp;){4,28}\d"
    r"(?!(?!x\d|ext)[^\W_])",
    re.IGNORECASE,
)
_PLACE = re.compile(r"[CG]hIJ[A-Za-z0-9_-]{23}|0x[0-9a-f]{1,16}:0x[0-9a-f]{1,16}|(?<![\d.])\d{15,20}(?![\d.])")
_HASH16 = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")
_ESCAPES = re.compile(
    r"%([0-9a-f]{2})|&#0*(\d{1,3});|&#x0*([0-9a-f]{1,2});|&(commat|period);|\\[ux](?:00)?([0-9a-f]{2})", re.I
)
_NAMED = {"commat": "@", "period": "."}
_FILE_ENDING = re.compile(
    r"\.(?:csv|docx?|eml|gif|gz|html?|jpe?g|json|jsonl|kml|md|msg|ndjson|ods|odt|parquet|pb|pdf|png|svg|toml|tsv|txt|usv"
    r"|vcf|webp|xlsx?|xml|ya?ml|zip)\Z",
    re.IGNORECASE,
)
"""A file that is called by an address: `jo@firm.example.pdf`. Some of these are domains as well: both are tried."""
_EDGES = ".'`*/=?^{|}~!#$-"
_URL_HEAD = re.compile(r"(?:^|.*[/=?&#'\"`])(?=[^/])")


# These three are compiled when they are needed: they take a tenth of a second, and most lists are empty.
@cache
def _emails() -> re.Pattern[str]:
    return re.compile(rf"({_LOCAL}){_AT}({_HOST})", re.IGNORECASE)


@cache
def _quoted_emails() -> re.Pattern[str]:
    return re.compile(rf"{_QUOTE}({_QUOTED}){_QUOTE}{_AT}({_HOST})", re.IGNORECASE)


@cache
def _hosts() -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9_\u00a1-\uffff-]){_HOST}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FirstLook:
    """A quick look that rules most texts out: what every spelling of a value has in it. Only where all are known."""

    words: tuple[str, ...]
    digits: tuple[bytes, ...]

    @classmethod
    def of(cls, listed: SuppressionList, literals: Sequence[str]) -> FirstLook | None:
        words = {re.split(r"[^\w]", literal.lower())[0] for literal in literals if len(literal) > _SHORT}
        digits: set[bytes] = set()
        for entry in listed.entries:
            if entry.value is None or entry.kind == "name" or "xn--" in entry.value:
                return None  # only its hash is known, or it has several spellings
            if entry.kind == "phone":
                digits.add(entry.value.removeprefix(f"+{entry.calling_code}")[-_LAST_DIGITS:].encode())
            elif entry.kind == "place":
                digits.add(entry.value.removeprefix("cid:").encode())
                words |= {entry.value.lower(), *_hexadecimal(entry.value)}
            else:
                words.add(max(re.split(r"[^\w-]", entry.value)[:2], key=len))
        return cls(tuple(sorted(words - {""})), tuple(sorted(digits - {b""})))

    def may_find(self, text: str) -> bool:
        lowered = text.lower()
        if any(word in lowered for word in self.words):
            return True
        if not self.digits:
            return False
        kept = text.encode("utf-8", "surrogateescape").translate(None, _NO_DIGITS)
        return any(number in kept for number in self.digits)


def _hexadecimal(place: str) -> list[str]:
    """The second half of a feature id, which has the customer id in it."""
    number = place.removeprefix("cid:")
    return [f"{int(number):x}"] if number.isdecimal() else []


_SHORT = 2
_LAST_DIGITS = 6
_NO_DIGITS = bytes(sign for sign in range(256) if sign not in b"0123456789")


class Scrubber:
    """Takes the listed values out of texts. `literals` are texts that are known in full: names, addresses, ids."""

    def __init__(self, listed: SuppressionList, literals: Iterable[str] = ()) -> None:
        self._listed = listed
        literals = tuple(literals)
        self._look = FirstLook.of(listed, literals)
        self._steps: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = []
        if listed.names("email") or listed.names("domain"):
            self._steps.append((_quoted_emails(), self._quoted_email))
            self._steps.append((_emails(), self._email))
        if listed.names("domain"):
            self._steps.append((_hosts(), self._host))
        if listed.names("place"):
            self._steps.append((_PLACE, lambda found: self._or_mark(found, listed.place(found[0]))))
        if listed.names("company"):
            self._steps.append((_HASH16, lambda found: self._or_mark(found, listed.company(found[0]))))
        if listed.names("phone"):
            self._steps.append((_PHONE, self._phone))
        words = sorted({literal for literal in literals if len(literal) > 2}, key=len, reverse=True)
        if words:  # last: a name within an address would leave half of the address
            self._steps.append((_literal_pattern(words), lambda _: MARK))

    def __bool__(self) -> bool:
        return bool(self._steps)

    def text(self, text: str) -> str:
        """The text with a mark where a listed value stood."""
        if not self._steps:
            return text
        if self._look is None or self._look.may_find(text):
            for pattern, replaced in self._steps:
                text = pattern.sub(replaced, text)
        read = folded(text)
        if read is None or (self._look is not None and not self._look.may_find(read.text)):
            return text
        return self._folded(text, read)

    def _folded(self, text: str, read: Folded) -> str:
        """Take out what only a reader sees: written with escapes, in other letters, with invisible signs in it."""
        spans = set[tuple[int, int]]()
        for pattern, replaced in self._steps:
            for found in pattern.finditer(read.text):
                new = replaced(found)
                if new != found[0]:
                    spans.add(read.span(*_changed(found, new)))
        kept, at = list[str](), 0
        for start, end in sorted(spans):
            if start >= at:  # otherwise within what is taken out already
                kept += [text[at:start], MARK]
            at = max(at, end)
        return "".join([*kept, text[at:]])

    def finds(self, text: str) -> bool:
        return self.text(text) != text

    def data(self, data: bytes) -> bytes:
        """The same for bytes. What is no UTF-8 is kept, byte for byte, around what is taken out."""
        text = data.decode("utf-8", "surrogateescape")
        scrubbed = self.text(text)
        if scrubbed == text:
            return data
        return scrubbed.encode("utf-8", "surrogateescape")

    @staticmethod
    def _or_mark(found: re.Match[str], listed: bool) -> str:
        return MARK if listed else found[0]

    def _email(self, found: re.Match[str]) -> str:
        """The local part may have swallowed what stands before it: `x=jo@firm.example`, `u003ejo@…`."""
        local, host = found[1], unescaped(found[2])
        file = _FILE_ENDING.search(host)
        for name, ending in ((host, ""), *(((host[: file.start()], file[0]),) if file else ())):
            for start in _starts(local):
                if self._listed.email(f"{unescaped(local[start:]).lstrip(_EDGES)}@{name}"):
                    return f"{local[:start]}{MARK}{ending}"
        return found[0]

    def _quoted_email(self, found: re.Match[str]) -> str:
        address = f'"{unescaped(found[1])}"@{unescaped(found[2])}'
        return self._or_mark(found, self._listed.email(address))

    def _host(self, found: re.Match[str]) -> str:
        host = unescaped(found[0])
        file = _FILE_ENDING.search(host)
        if file and self._listed.host(host[: file.start()]):
            return f"{MARK}{file[0]}"
        return self._or_mark(found, self._listed.host(host))

    def _phone(self, found: re.Match[str]) -> str:
        text = unescaped(found[0])
        if self._listed.phone(text):
            return MARK
        return "".join(self._number(part) for part in _parts(found[0]))

    def _number(self, text: str) -> str:
        """One number, or several that are joined by lines below: `2026_11_17_030_1234567`, as in names of files."""
        if self._listed.phone(unescaped(text)):
            return MARK
        pieces = text.split("_")
        spans = [(begin, end) for begin in range(len(pieces)) for end in range(begin + 1, len(pieces) + 1)]
        for begin, end in sorted(spans, key=lambda span: span[0] - span[1]):  # the longest first
            if self._listed.phone(unescaped("_".join(pieces[begin:end]))):
                kept = [*pieces[:begin], MARK, *pieces[end:]]
                return "_".join(kept)
        return text


def _changed(found: re.Match[str], new: str) -> tuple[int, int]:
    """Which part of a match was replaced: from the first sign that differs to the last."""
    old = found[0]
    begin = len(commonprefix([old, new]))
    end = len(commonprefix([old[begin:][::-1], new[begin:][::-1]]))
    return found.start() + begin, max(found.end() - end, found.start() + begin + 1)


def _literal_pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Each text, whatever stands for its spaces and signs in a page or in an address."""
    return re.compile("|".join(_loose(word) for word in words), re.IGNORECASE)


def _loose(word: str) -> str:
    parts = [re.escape(part) for part in re.split(r"\s+", word.strip())]
    spaces = r"(?:\s|&nbsp;|\u00a0|%20|\+|\\u00a0|\\n)+"
    text = spaces.join(parts)
    for sign, forms in (("&", r"(?:&amp;|&|%26|\\u0026)"), ("'", r"(?:'|&#0*39;|&#x0*27;|&apos;|%27|\\u0027|’)")):
        text = text.replace(re.escape(sign), forms)
    return rf"(?<!\w){text}(?!\w)"


def _starts(local: str) -> list[int]:
    """Where the address itself may begin: at the beginning, and behind each sign that addresses rarely have."""
    signs = [number + 1 for number, sign in enumerate(local[:-1]) if sign in "/=?'`#{|}!*$~^"]
    escapes = [found.end() for found in re.finditer(r"u00[23][0-9a-f]|%[23][0-9a-f]|mailto", local[:-1], re.IGNORECASE)]
    return sorted({0, *signs, *escapes})


def _parts(run: str) -> list[str]:
    """A run of digits and signs that may be several numbers, with what parts them."""
    return re.split(r"((?: ?[/|] ?|  +| (?=[+(])|%20(?=%2b)))", run)


def unescaped(text: str) -> str:
    """Without the escapes of addresses, HTML and JSON, as far as addresses and numbers are written with them."""
    if not any(sign in text for sign in "%&\\"):
        return text
    return _ESCAPES.sub(_plain, text.replace("&nbsp;", " "))


def _plain(found: re.Match[str]) -> str:
    percent, decimal, hexadecimal, named, json = found.groups()
    if named:
        return _NAMED[named.lower()]
    code = int(decimal) if decimal else int(percent or hexadecimal or json, 16)
    return chr(code)
