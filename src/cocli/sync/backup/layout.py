"""Where things lie in a backup. It is a tree of its own, beside those of `cocli.keys.paths`.

cocli-backup.json                          says that this is a backup, and which one
HEAD                                       the snapshots that there are, replaced by compare-and-swap only
snapshots/{time}-{sha256}.json             one snapshot: when, of what, and its lists
lists/{sha256[:2]}/{sha256}                keys and where their contents are, some hundred keys each
packs/{sha256[:2]}/{sha256}                contents, one behind the other
drafts/{source}.json                       how far a snapshot has come that is not finished

Everything but HEAD and drafts is written once and named by the SHA-256 of its bytes.
"""

from __future__ import annotations

import hashlib

MARKER = "cocli-backup.json"
HEAD = "HEAD"
SNAPSHOTS, LISTS, PACKS, DRAFTS = "snapshots/", "lists/", "packs/", "drafts/"
FOLDERS = (SNAPSHOTS, LISTS, PACKS, DRAFTS)


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def list_key(name: str) -> str:
    return f"{LISTS}{name[:2]}/{name}"


def pack_key(name: str) -> str:
    return f"{PACKS}{name[:2]}/{name}"


def snapshot_key(name: str) -> str:
    return f"{SNAPSHOTS}{name}.json"


def snapshot_name(key: str) -> str:
    return key.removeprefix(SNAPSHOTS).removesuffix(".json")


def draft_key(source: str) -> str:
    """One for each source, by its address."""
    return f"{DRAFTS}{sha256_of(source.encode())[:16]}.json"


def name_in(key: str) -> str:
    """The SHA-256 that an object of the backup is named by; empty where it is not named so."""
    last = key.rpartition("/")[2].removesuffix(".json").rpartition("-")[2]
    is_named = len(last) == 64 and key.startswith((SNAPSHOTS, LISTS, PACKS))
    return last if is_named else ""
