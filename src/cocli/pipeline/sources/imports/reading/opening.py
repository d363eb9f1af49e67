"""Whether a business is open for good: what programs and maps write of it. Closed is closed; closed today is not."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from cocli.pipeline.sources.imports.reading.texts import words_in
from cocli.pipeline.websites.page.languages import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.models.place import BusinessStatus

_YES = words_in("true yes y 1 ja oui si sí sì да 是 はい 예 نعم כן x ✓ ✔ wahr vrai")
_NO = words_in("false no n 0 nein non нет 否 いいえ 아니요 لا לא falsch faux")
_CODES: Mapping[str, BusinessStatus] = {
    "operational": "operational",
    "open": "operational",
    "active": "operational",
    "closed permanently": "permanently_closed",
    "permanently closed": "permanently_closed",
    "closed for good": "permanently_closed",
    "out of business": "permanently_closed",
    "permanent closed": "permanently_closed",
    "no longer open": "permanently_closed",
    "closed temporarily": "temporarily_closed",
    "temporarily closed": "temporarily_closed",
    "temporary closed": "temporarily_closed",
}
_SIGNS = re.compile(r"[\W_]+")


def status_of(text: str, *, of_the_business: bool = True) -> BusinessStatus | None:
    """`CLOSED_PERMANENTLY`, `Dauerhaft geschlossen`, `Open ⋅ Closes 5 PM`. Plain `Closed` may be closed now.

    Where it is not said to be of the business, an `open` or `active` may be of a task, and says nothing.
    """
    head = text.partition("⋅")[0].partition("·")[0].strip()
    plain = _SIGNS.sub(" ", head).strip().casefold()
    found = _words().get(head.casefold()) or _words().get(plain) or _CODES.get(plain)
    if found is None and of_the_business and plain.startswith("open "):
        found = "operational"
    if found == "operational" and not of_the_business and plain != "operational":
        return None
    return found


def is_yes(text: str) -> bool | None:
    """A cell that says yes or no."""
    word = text.strip().casefold()
    if word in _YES:
        return True
    return False if word in _NO else None


@cache
def _words() -> Mapping[str, BusinessStatus]:
    found: dict[str, BusinessStatus] = {word.casefold(): "temporarily_closed" for word in words_of("closed.for_now")}
    return found | {word.casefold(): "permanently_closed" for word in words_of("closed.for_good")}
