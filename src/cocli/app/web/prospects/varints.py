"""Numbers as varints, and blocks that are deflated: what the index's files are made of."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEVEL = 6
_WIDEST = 5
"""A varint of 32 bits has so many bytes at most."""


def varints(numbers: NDArray[np.uint32]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The numbers, seven bits in a byte, the lowest first; and how many bytes each takes."""
    widths = np.ones(len(numbers), np.int64)
    for place in range(1, _WIDEST):
        widths += numbers >= np.uint32(1 << 7 * place)
    starts = np.cumsum(widths) - widths
    encoded = np.empty(int(widths.sum()), np.uint8)
    for place in range(int(widths.max(initial=0))):
        has = np.flatnonzero(widths > place)
        part = (numbers[has] >> np.uint32(7 * place)).astype(np.uint8) & np.uint8(0x7F)
        encoded[starts[has] + place] = part | (widths[has] > place + 1).astype(np.uint8) << np.uint8(7)
    return encoded, widths


def distances(rows: NDArray[np.uint32], starts: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Of each row how far it is from the one before; of the first row of a list, at `starts`, its number."""
    found = np.diff(rows, prepend=np.uint32(0))
    found[starts] = rows[starts]
    return found


def varint_bytes(numbers: list[int]) -> bytes:
    """A few numbers of any size."""
    made = bytearray()
    for number in numbers:
        rest = number
        while rest >= 0x80:
            made.append(rest & 0x7F | 0x80)
            rest >>= 7
        made.append(rest)
    return bytes(made)


def deflated(data: bytes) -> bytes:
    """Raw deflate, as `DecompressionStream("deflate-raw")` reads it."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()
