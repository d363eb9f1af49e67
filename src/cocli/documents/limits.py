"""How large a document may be. What is larger is refused before anything is written."""

from __future__ import annotations

from cocli.errors import DocumentInvalid

INLINE_LIMIT = 64 * 1024
"""Blobs up to this size lie in the document's object, larger ones are objects of their own."""
PART_BYTES = 4 * 1024 * 1024
"""Blobs up to this size are one object, larger ones several parts: nobody ever has to hold a large one in memory."""
MAX_BLOB_BYTES = 16 * 1024 * 1024 * 1024
MAX_STATE_BYTES = 64 * 1024 * 1024
"""Of the object without the blobs that are objects of their own."""
MAX_BLOBS = 10_000
MAX_TEXT = 1 << 20
"""Characters of a single text of the source: an address, a header, a file name."""


def check_size(doc: str, what: str, size: int, limit: int) -> None:
    if size > limit:
        raise DocumentInvalid(doc=doc, reason=f"{what} has {size:,} bytes; the most is {limit:,}")
