"""The identity of a state of a document: byte-compatible with the system that this follows, with vectors in the tests.

The datasource's id is `cocli.keys.identities.datasource_id`.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from cocli.errors import IdentityError

MAX_DOC_BYTES = 1800
MAX_PART_BYTES = 200
"""In UTF-8. With these, every row fits into an index of PostgreSQL, whose entries have at most 2,704 bytes."""
_PART = re.compile(r"[^|\x00]*[^|\s\x00][^|\x00]*\Z")


@lru_cache(maxsize=4096)
def node_uuid(doc: str, address: str, account: str) -> str:
    """Java's `UUID.nameUUIDFromBytes` of `doc|address|account`: MD5 without a namespace, in the form of version 3.

    Kept: who reads a document asks for it where it should lie, and again of what was found there.
    """
    check_parts(doc=doc, address=address, account=account)
    digits = hashlib.md5(f"{doc}|{address}|{account}".encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-3{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


@lru_cache(maxsize=4096)
def check_identity(account: str, connector: str, datasource: str, doc: str, address: str, cluster: str | None) -> None:
    """All parts at once. Kept: where a document lies, and what is found there, are made one after the other."""
    check_parts(account=account, connector=connector, datasource=datasource)
    check_parts(doc=doc, address=address, cluster="-" if cluster is None else cluster)


def check_parts(**parts: str) -> None:
    """Refuse blank parts and `|`: the parts are joined with it, and must not run into each other."""
    for name, text in parts.items():
        _check_part(name, text)


@lru_cache(maxsize=4096)
def _check_part(name: str, text: str) -> None:
    """Kept: most parts are the same for all documents of a source, and each document is made several times."""
    if not _PART.match(text):
        raise _refused(name, text, "it is blank" if not text.strip() else _AMBIGUOUS)
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise _refused(name, text, "it has a lone surrogate, which is no Unicode") from None
    limit = MAX_DOC_BYTES if name == "doc" else MAX_PART_BYTES
    if size > limit:
        raise _refused(name, text, f"it has {size} bytes; the most is {limit}")


_AMBIGUOUS = "it contains | or a NUL, which would let two identities run into each other"
_KINDS = {
    "doc": "document id",
    "address": "datasource or node id",
    "account": "account",
    "connector": "connector",
    "datasource": "datasource id",
    "cluster": "cluster",
}


def _refused(name: str, text: str, reason: str) -> IdentityError:
    return IdentityError(text=ascii(text[:80])[1:-1], kind=_KINDS[name], reason=reason)
