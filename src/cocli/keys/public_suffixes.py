"""The public suffix list, read in a fraction of the time: only names that are not ASCII have a second, encoded form.

The library encodes all ten thousand names, and every process that looks at a domain pays for that when it starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from publicsuffixlist import PublicSuffixList

_BORDER = "// ==="


def public_suffixes(**options: Any) -> PublicSuffixList:
    """The list that came with the library; `options` are the library's own."""
    from publicsuffixlist import PSLFILE, PublicSuffixList  # 300 kB of text: read when the first domain is looked at

    with open(PSLFILE, encoding="utf-8") as lines:
        return PublicSuffixList(_with_encoded(lines), accept_encoded_idn=False, **options)


def _with_encoded(lines: Iterable[str]) -> Iterator[str]:
    """The rules and the borders of sections, without remarks."""
    for line in lines:
        if line.isspace() or (line.startswith("//") and not line.startswith(_BORDER)):
            continue
        yield line
        if not line.isascii():
            rule = line.split(" ")[0].strip().lower()
            exception = "!" if rule.startswith("!") else ""
            yield exception + rule.removeprefix("!").encode("idna").decode("ascii")
