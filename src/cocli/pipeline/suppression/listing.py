"""The do-not-contact list, as it is asked: by hash, because of some entries nothing else is known.

Made once from all entries, and asked for every value that is about to be written or shown. An empty list costs nothing.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from cocli.pipeline.comparison import comparable_name
from cocli.pipeline.suppression.subject import ascii_host, normal_email, place_forms

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from cocli.models.left_alone.suppression import SubjectKind, Suppression

_FEWEST_DIGITS = 6
_EXTENSION = re.compile(r"\s*(?:x|ext\.?|extension)\s*\d{1,6}\s*\Z", re.IGNORECASE)


class SuppressionList:
    """What is left alone now."""

    def __init__(self, entries: Iterable[Suppression] = (), *, now: datetime | None = None) -> None:
        self.entries = tuple(entry for entry in entries if _holds(entry, now))
        digests: dict[SubjectKind, set[str]] = defaultdict(set)
        for entry in self.entries:
            digests[entry.kind].add(entry.sha256)
        self._digests = {kind: frozenset(found) for kind, found in digests.items()}
        self._salts = tuple(sorted({entry.salt or "" for entry in self.entries}))
        self.calling_codes = tuple(sorted({entry.calling_code for entry in self.entries if entry.calling_code}))
        self._known: dict[tuple[SubjectKind, str], bool] = {}

    def __bool__(self) -> bool:
        return bool(self.entries)

    @cached_property
    def digest(self) -> str:
        """Changes with what is left alone: copies that were made under another list are made anew."""
        told = sorted(f"{entry.kind} {entry.sha256}" for entry in self.entries)
        return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]

    @cached_property
    def forgotten(self) -> SuppressionList:
        """Those whose data was removed."""
        return SuppressionList(entry for entry in self.entries if entry.forgotten)

    def names(self, kind: SubjectKind) -> bool:
        """Whether anything of a kind is listed."""
        return kind in self._digests

    def has(self, kind: SubjectKind, value: str) -> bool:
        """Whether a value in its normal form is listed."""
        digests = self._digests.get(kind)
        if not digests or not value:
            return False
        known = self._known.get((kind, value))
        if known is None:
            known = any(_sha256(salt + value) in digests for salt in self._salts)
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            self._known[kind, value] = known
        return known

    def email(self, address: str | None) -> bool:
        """By itself, or by its domain."""
        if not address or not ("email" in self._digests or "domain" in self._digests):
            return False
        normal = normal_email(address)
        return bool(normal) and (self.has("email", normal) or self.host(normal.rpartition("@")[2]))

    def host(self, host: str | None) -> bool:
        """The host itself, or a name that it lies below."""
        if not host or "domain" not in self._digests:
            return False
        name = ascii_host(_host(host))
        while "." in name:
            if self.has("domain", name):
                return True
            name = name.partition(".")[2]
        return False

    def phone(self, text: str | None) -> bool:
        """A number in any spelling: with its country, or without it where one of that country is listed."""
        if not text or "phone" not in self._digests:
            return False
        return any(self.has("phone", form) for form in self._phone_forms(text))

    def place(self, text: str | None) -> bool:
        return (
            bool(text) and "place" in self._digests and any(self.has("place", form) for form in place_forms(text or ""))
        )

    def company(self, company_hash: str | None) -> bool:
        return self.has("company", company_hash or "")

    def name(self, text: str | None) -> bool:
        return bool(text) and "name" in self._digests and self.has("name", comparable_name(text or ""))

    def _phone_forms(self, text: str) -> list[str]:
        if not text.isascii():
            text = "".join(str(unicodedata.decimal(sign, sign)) for sign in text)
        digits = "".join(filter(str.isdigit, _EXTENSION.sub("", text)))
        if len(digits) < _FEWEST_DIGITS:
            return []
        forms = [f"+{digits}", f"+{digits.removeprefix('00')}"]
        for code in self.calling_codes:
            forms += [f"+{code}{digits}", f"+{code}{digits.lstrip('0')}"]
            if f"{code}0" in (digits[: len(code) + 1], digits.removeprefix("00")[: len(code) + 1]):
                forms.append(f"+{code}{digits.removeprefix('00')[len(code) + 1 :]}")  # +49 (0)30 …
        return forms


NOBODY = SuppressionList()
_REMEMBERED = 100_000


def _holds(entry: Suppression, now: datetime | None) -> bool:
    return not entry.removed and (entry.until is None or now is None or now < entry.until)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _host(address: str) -> str:
    host = address.strip().lower().split("://", 1)[-1]
    for end in "/?#":
        host = host.split(end, 1)[0]
    return host.rpartition("@")[2].partition(":")[0].strip(".")
