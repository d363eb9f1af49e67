"""The charsets that a stranger's text may name: those of the WHATWG standard, by Python's names.

Python knows more: `punycode`, `idna` or `unicode_escape` are no charsets of texts, and some of them take forever.
"""

from __future__ import annotations

import codecs

_OF_THE_WEB = frozenset(
    codecs.lookup(name).name
    for name in (
        *("utf-8", "utf-16-le", "utf-16-be", "gbk", "gb18030", "big5", "big5hkscs", "euc-jp", "iso2022-jp"),
        *("cp932", "cp949", "euc-kr", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "cp866", "cp874", "latin-1"),
        *(f"cp{number}" for number in range(1250, 1259)),
        *(f"iso-8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    )
)


def web_codec(name: str) -> str | None:
    """Python's name of a charset; None for what no browser takes for one."""
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError):  # nobody knows it
        return None
    return codec if codec in _OF_THE_WEB else None
