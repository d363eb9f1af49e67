"""Which code page a text is written in that is no Unicode: by its letters, and how they follow each other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

_LOOKED_AT = 64 * 1024
_HIGH = re.compile(rb"[\x80-\xff]+")
_FEW, _MANY = 3, 0.4
"""In languages of Latin letters most letters with accents stand between letters without."""


@dataclass(frozen=True, slots=True)
class CodePage:
    """One code page, and the letters that a language in it uses most."""

    name: str
    first: int
    last: int
    common: frozenset[str]
    has_case: bool = True


_PAGES = (
    CodePage("cp1251", 0x400, 0x45F, frozenset("оеаинтсрвл")),
    CodePage("koi8-r", 0x400, 0x45F, frozenset("оеаинтсрвл")),
    CodePage("cp1253", 0x370, 0x3FF, frozenset("αοιετσνηυρκπς")),
    CodePage("cp1255", 0x590, 0x5FF, frozenset("יוהלארמתבש"), has_case=False),
    CodePage("cp1256", 0x600, 0x6FF, frozenset("اليمونرتبة"), has_case=False),
    CodePage("cp874", 0xE00, 0xE7F, frozenset("านรอกเง่้ม"), has_case=False),
)
_SIDE_BY_SIDE = re.compile("[^\x00-\x7f]{2,}")
_SHARE_IN_RUNS = 0.7
_EASTERN = (("cp949", 0xAC00, 0xD7A3), ("cp932", 0x3040, 0x9FFF), ("gb18030", 0x4E00, 0x9FFF), ("big5", 0x4E00, 0x9FFF))
_INSIDE = re.compile(r"[^\W\d_][¹³¿£¥¯¼¾][^\W\d_]|\b[£¯¥][a-zó]|[a-z][¹³]\b")
"""Signs in the middle of words are letters of another code page."""


def code_page_of(data: bytes) -> str:
    """The code page of a text: Windows-1252 where nothing tells otherwise."""
    head = data[:_LOOKED_AT]
    runs = _HIGH.findall(head)
    total = sum(len(run) for run in runs)
    if not total:
        return "cp1252"
    if eastern := _eastern(head):
        return eastern
    if sum(len(run) for run in runs if len(run) > _FEW) < _MANY * total:
        return _latin(head)
    scored = [(_score(head.decode(page.name, "replace"), page, total), page.name) for page in _PAGES]
    best, name = max(scored, key=lambda score: score[0])
    return name if best > 0.5 else "cp1252"


def _score(text: str, page: CodePage, total: int) -> float:
    """The share of its letters, and of the common ones; a large letter in the middle of a word counts against it."""
    letters = [character for character in text if page.first <= ord(character) <= page.last and character.isalpha()]
    if page.name == "cp874":  # its vowels are no letters
        letters = [character for character in text if page.first <= ord(character) <= page.last]
    common = sum(character.lower() in page.common for character in letters)
    score = 0.4 * len(letters) / total + 0.6 * common / total
    if page.has_case:
        wrong = sum(before.islower() and after.isupper() for before, after in pairwise(text))
        score -= wrong / total
    return score


def _eastern(head: bytes) -> str | None:
    """Two bytes for a character: only few texts can be read so at all, and those have characters of daily use."""
    best: tuple[float, str] | None = None
    for name, first, last in _EASTERN:
        try:
            text = head.decode(name)
        except UnicodeDecodeError as error:
            if error.start < len(head) - 4:
                continue  # not this one: only the end of what is looked at may be cut
            text = head[: error.start].decode(name)
        signs = [character for run in _SIDE_BY_SIDE.findall(text) for character in run]
        if len(signs) < _SHARE_IN_RUNS * sum(ord(character) > 0x7F for character in text):
            continue  # quotes and accents between plain letters
        usual = sum(first <= ord(character) <= last or 0x3000 <= ord(character) <= 0x303F for character in signs)
        half = sum(0xFF61 <= ord(character) <= 0xFF9F for character in signs)
        # Among the first few thousand ideographs of these code pages are those of daily use.
        share = (usual - half) / len(signs) if signs else 0.0
        common = sum(_is_daily(character, name) for character in signs) / len(signs) if signs else 0.0
        if name == "cp949" and share > 0.95 and common > 0.95:
            return name  # in Chinese these bytes are seldom so close together
        if share > 0.5 and common > 0.8 and (best is None or share + common > best[0]):
            best = share + common, name
    return best[1] if best else None


def _is_daily(character: str, page: str) -> bool:
    if 0x3000 <= ord(character) <= 0x30FF or 0xFF00 <= ord(character) <= 0xFF60:
        return True
    packed = character.encode(page, "ignore")
    if len(packed) != 2:
        return False
    lead = packed[0]
    if page == "gb18030":
        return 0xB0 <= lead <= 0xD7 and packed[1] >= 0xA1
    if page == "big5":
        return 0xA4 <= lead <= 0xC6
    if page == "cp932":
        return 0x88 <= lead <= 0x98
    return 0xB0 <= lead <= 0xC8 and packed[1] >= 0xA1


def _latin(head: bytes) -> str:
    """Windows-1252, unless its letters would make no words of any of its languages."""
    western = head.decode("cp1252", "replace")
    if _is_central(western):
        return "cp1250"
    if any(sign in western for sign in "ðþÐÞ") and set(western) & set("ýÝüöçÇ") and not set(western) & set("áéíóúæ"):
        return "cp1254"
    return "cp1252"


def _is_central(western: str) -> bool:
    signs = set(western)
    polish = len(_INSIDE.findall(western)) > 0
    czech = bool(signs & set("øØ")) and bool(signs & set("ìèùòšžŠŽ\ufffd"))
    hungarian = "õ" in signs and bool(signs & set("éíáÉÍÁ")) and not signs & set("ãç")
    return polish or czech or hungarian
