"""From the bytes of a page to its text: byte order mark, then UTF-8 where it fits, then what the page declares.

Names of charsets mean here what they mean to browsers: `iso-8859-1` is windows-1252, `shift_jis` what Windows made of
it. A page that declares nothing, and is no UTF-8, is windows-1252 unless it is full of Japanese syllables.
"""

from __future__ import annotations

import codecs
import re

from cocli.formats.charsets import web_codec

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(
    rb"""(?:<meta[^>]{0,200}?charset|<\?xml[^>]{0,100}?encoding)\s{0,5}=\s{0,5}["']?\s{0,5}([A-Za-z0-9_:.-]{2,40})""",
    re.IGNORECASE,
)
_HEAD_BYTES = 4096
_FALLBACK = "cp1252"
_WIDER = {
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "iso88591", "latin1", "latin-1", "us-ascii", "ascii"), "cp1252"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "windows-31j"), "cp932"),
    **dict.fromkeys(("gb2312", "gbk", "x-gbk", "gb_2312-80"), "gb18030"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "korean", "ksc5601"), "cp949"),
    **dict.fromkeys(("big5", "x-x-big5"), "big5hkscs"),
    **dict.fromkeys(("iso-8859-9", "latin5"), "cp1254"),
    **dict.fromkeys(("iso-8859-11", "tis-620"), "cp874"),
    "x-euc-jp": "euc_jp",
}
"""What browsers take for a name: a charset that holds it, and what else stands in pages that say so."""
_UTF8 = frozenset(("utf-8", "utf8", "unicode-1-1-utf-8"))
_SYLLABLES = re.compile(r"[\u3041-\u30fe]")
_SYLLABLES_NEEDED = 5
_ESCAPES = (b"\x1b$B", b"\x1b$@")


def decode(body: bytes, declared: str | None = None) -> str:
    """The text of a page. `declared` is the charset of the response's header, if it named one. Never fails."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    if b"\x00" in body[:100] and (wide := _wide(body[:100])):
        return body.decode(wide, "replace")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:  # most pages are UTF-8, also those that say otherwise; this one is not
        return _in_another(body, declared)
    if any(escape in body for escape in _ESCAPES):
        return body.decode("iso2022_jp", "replace")
    return text


def _wide(head: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of its tags is nothing."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) < len(head) // 4:
        return None
    if even > odd:
        return "utf-16-be"
    return "utf-16-le"


def _in_another(body: bytes, header: str | None) -> str:
    match = _DECLARED.search(body, 0, _HEAD_BYTES)
    names = [name.strip().lower() for name in (header, match[1].decode("ascii") if match else None) if name]
    if (not names or not _UTF8.isdisjoint(names)) and (mostly := _mostly_utf8(body)):
        return mostly
    charsets = [_WIDER.get(name, name) for name in names if name not in _UTF8]
    for charset in (*charsets, *([] if charsets else _japanese(body)), _FALLBACK):
        text = _decoded(body, charset)
        if text is not None:
            return text
    return body.decode("latin-1")


def _mostly_utf8(body: bytes) -> str | None:
    """The text, where only some bytes of it are no UTF-8: cut within a letter, or pasted in from elsewhere."""
    text = body.decode("utf-8", "replace")
    letters = sum(1 for character in text if character > "\x7f")
    if letters > 2 * text.count("\ufffd"):
        return text
    return None


def _japanese(body: bytes) -> list[str]:
    """The charset under which a page that names none is Japanese, if there is one."""
    for charset in ("cp932", "euc_jp"):
        try:
            text = body.decode(charset)
        except UnicodeDecodeError:  # not this one: that is the answer
            continue
        if len(_SYLLABLES.findall(text[:20_000])) >= _SYLLABLES_NEEDED:
            return [charset]
    return []


def _decoded(body: bytes, name: str) -> str | None:
    """None for a name that no browser takes for a charset."""
    codec = web_codec(name)
    return None if codec is None else body.decode(codec, "replace")
