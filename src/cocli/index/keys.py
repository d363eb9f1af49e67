"""Sums and fingerprints of sort keys: how a lost row is noticed, and how a lookup knows where not to look.

A fingerprint is the first three bytes of a key's digest. The delta's shards carry theirs in the manifest, sorted, four
characters per row: of 8,000 rows one in 2,000 foreign keys is taken for one of them, and costs one more request.
"""

from __future__ import annotations

import base64
import hashlib
from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGEST_BYTES = 16
_PRINT_BYTES = 3
_SUM_LIMIT = 1 << (8 * _DIGEST_BYTES)
EMPTY_SUM = "0" * (2 * _DIGEST_BYTES)


def key_digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=_DIGEST_BYTES).digest()


class KeySum:
    """A checksum of a set of keys that does not depend on their order, and from which a key can be taken away."""

    def __init__(self, text: str = EMPTY_SUM) -> None:
        self._value = int(text, 16)

    def add(self, key: str) -> None:
        self._value = (self._value + int.from_bytes(key_digest(key))) % _SUM_LIMIT

    def remove(self, key: str) -> None:
        self._value = (self._value - int.from_bytes(key_digest(key))) % _SUM_LIMIT

    def __str__(self) -> str:
        return f"{self._value:0{2 * _DIGEST_BYTES}x}"


class Fingerprints:
    """The fingerprints of one shard's keys."""

    def __init__(self, text: str) -> None:
        self._packed = base64.b64decode(text)

    @staticmethod
    def render(keys: Iterable[str]) -> str:
        prints = sorted(key_digest(key)[:_PRINT_BYTES] for key in keys)
        return base64.b64encode(b"".join(prints)).decode()

    def __len__(self) -> int:
        return len(self._packed) // _PRINT_BYTES

    def __getitem__(self, at: int) -> bytes:
        return self._packed[at * _PRINT_BYTES : (at + 1) * _PRINT_BYTES]

    def may_hold(self, key: str) -> bool:
        wanted = key_digest(key)[:_PRINT_BYTES]
        at = bisect_left(self, wanted)
        return at < len(self) and self[at] == wanted
