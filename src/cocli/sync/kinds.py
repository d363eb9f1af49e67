"""What a key is, for a sync: the one table of kinds, and what happens to each. docs/sync.md shows the same table.

Taken apart by its folders and not by `keys.paths.parse`: a listing has a hundred thousand keys, and this is asked for
each that is not known yet. A test holds that both agree.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from cocli.keys.paths import GLOBAL_INDEXES


class SyncPart(StrEnum):
    """What a person can ask for by name (`--only`)."""

    CONFIG = "config"
    INDEXES = "indexes"
    """Published versions: pointer, manifests, shards."""
    RECORDS = "records"
    """What waits to be packed: loose records and batches."""
    COMPANIES = "companies"
    """Companies, people, notes, meetings."""
    COMPLETIONS = "completions"
    DOCUMENTS = "documents"
    REPORTS = "reports"
    """Reports and exports."""
    STATUS = "status"
    OTHER = "other"


class SyncRule(StrEnum):
    """What happens where both sides have something else."""

    IMMUTABLE = "immutable"
    """By name only: what is there is the same. Never compared, never in conflict."""
    VERSIONS = "versions"
    """Not file by file: `indexes` moves whole versions by their manifests."""
    MERGE = "merge"
    """Two records of one key become one, by the index's own merge function."""
    NEWEST = "newest"
    """Machines write it: the newer one wins, by what it says of itself."""
    DOCUMENT = "document"
    """The higher version wins; the other one is kept beside it, under its digest."""
    PERSON = "person"
    """A person wrote it: both are kept."""
    NEVER = "never"
    """Mutable state with one owner. A copy of it would be wrong a moment later."""


class SyncKind(NamedTuple):
    name: str
    part: SyncPart
    rule: SyncRule
    pull_only: bool = False
    consumed: bool = False
    """It goes away by being packed into a version: its absence is followed without `--delete`."""


CONFIG = SyncKind("config", SyncPart.CONFIG, SyncRule.PERSON)
QUEUE_STATE = SyncKind("queue state", SyncPart.OTHER, SyncRule.NEVER)
COMPLETION = SyncKind("completion", SyncPart.COMPLETIONS, SyncRule.IMMUTABLE)
VERSION = SyncKind("index version", SyncPart.INDEXES, SyncRule.VERSIONS)
DESCRIPTION = SyncKind("index description", SyncPart.RECORDS, SyncRule.NEWEST)
BATCH = SyncKind("batch", SyncPart.RECORDS, SyncRule.IMMUTABLE, consumed=True)
LOOSE = SyncKind("loose record", SyncPart.RECORDS, SyncRule.MERGE, consumed=True)
MARKDOWN = SyncKind("company or person", SyncPart.COMPANIES, SyncRule.PERSON)
REPORT = SyncKind("report", SyncPart.REPORTS, SyncRule.NEWEST)
PROOF = SyncKind("proof of removal", SyncPart.REPORTS, SyncRule.IMMUTABLE)
HEARTBEAT = SyncKind("heartbeat", SyncPart.STATUS, SyncRule.NEWEST, pull_only=True)
CATALOG = SyncKind("catalogue", SyncPart.OTHER, SyncRule.NEVER)
MACHINE = SyncKind("machine", SyncPart.STATUS, SyncRule.NEVER)
LEFT_ALONE = SyncKind("left alone", SyncPart.OTHER, SyncRule.NEVER)
"""The do-not-contact list and the proofs of who was forgotten: brought over by themselves, before everything else."""
PROBE = SyncKind("probe", SyncPart.OTHER, SyncRule.NEVER)
DOCUMENT = SyncKind("document", SyncPart.DOCUMENTS, SyncRule.DOCUMENT)
DOCUMENT_VERSION = SyncKind("document version", SyncPart.DOCUMENTS, SyncRule.IMMUTABLE)
OTHER = SyncKind("other", SyncPart.OTHER, SyncRule.PERSON)

KINDS = (
    CONFIG, MARKDOWN, VERSION, BATCH, LOOSE, DESCRIPTION, COMPLETION, QUEUE_STATE, DOCUMENT, DOCUMENT_VERSION, REPORT,
    PROOF, HEARTBEAT, MACHINE, CATALOG, LEFT_ALONE, PROBE, OTHER,
)  # fmt: skip
"""Every kind, as docs/sync.md lists them."""

_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_STATE = re.compile(rf"[^/]+/{_UUID}\.pb\Z")
_KEPT = re.compile(rf"(?:{_UUID}/[0-9a-f]{{64}}\.pb|blobs/[0-9a-f]{{64}}\.bin|{_UUID}\.[0-9a-f]{{64}}\.damaged)\Z")
_CONFLICT = re.compile(r"\.conflict-[^/]+-\d{8}T\d{6}Z(?:-[0-9a-f]{8})?(?P<ending>\.[a-z0-9]+)?\Z")
_FOLDERS_OF_A_DOCUMENT = 6


def kind_of(key: str) -> SyncKind:
    """What a key is. Whatever is not known belongs to a person: of that both sides are kept."""
    if original_of(key) is not None:
        is_crm = key.startswith(("companies/", "people/"))
        return MARKDOWN if is_crm else OTHER
    first, _, rest = key.partition("/")
    if first == "campaigns":
        return _of_campaign(rest.partition("/")[2])
    if first == "indexes":
        name, _, below = rest.partition("/")
        if name not in GLOBAL_INDEXES:
            return OTHER
        return _of_index(name, below)
    if first in _FIRST:
        return _FIRST[first]
    return _document(key)


def original_of(key: str) -> str | None:
    """The file that a conflict copy stands beside; None for every other key."""
    if ".conflict-" not in key:
        return None
    found = _CONFLICT.search(key)
    if found is None:
        return None
    return key[: found.start()] + (found["ending"] or "")


def index_of(key: str) -> str | None:
    """The folder of the index that a key lies in."""
    first, _, rest = key.partition("/")
    if first == "indexes":
        return f"indexes/{rest.partition('/')[0]}/"
    parts = key.split("/", 4)
    if len(parts) < 5 or first != "campaigns" or parts[2] != "indexes":
        return None
    return "/".join(parts[:4]) + "/"


_FIRST = {
    "companies": MARKDOWN, "people": MARKDOWN, "status": HEARTBEAT, "access": MACHINE, "evictions": MACHINE,
    "revocations": MACHINE, "subscriptions": MACHINE,
    "catalog": CATALOG, "probes": PROBE, "suppressed": LEFT_ALONE, "forgotten": LEFT_ALONE,
}  # fmt: skip


def _of_campaign(below: str) -> SyncKind:
    folder, _, rest = below.partition("/")
    match folder:
        case "config.toml" | "categories.csv":
            return OTHER if rest else CONFIG
        case "queues":
            is_completed = rest.split("/", 2)[1:2] == ["completed"]
            return COMPLETION if is_completed else QUEUE_STATE
        case "indexes":
            name, _, inside = rest.partition("/")
            return _of_index(name, inside) if inside else OTHER
        case "refresh" | "watches":
            return QUEUE_STATE
        case "retention":
            return PROOF
        case "exports" | "reports" | "quality" | "imports":
            return REPORT
    return OTHER


def _of_index(name: str, inside: str) -> SyncKind:
    folder, _, below = inside.partition("/")
    if folder in ("shards", "manifests") and below:
        return VERSION
    if folder == "wal" and below:
        return BATCH
    if not below:
        return {"LATEST": VERSION, "datapackage.json": DESCRIPTION}.get(folder, OTHER)
    if name and inside.endswith((".usv", ".csv")):
        return LOOSE
    return OTHER


def _document(key: str) -> SyncKind:
    parts = key.split("/")
    if len(parts) > _FOLDERS_OF_A_DOCUMENT:
        if _STATE.search("/".join(parts[-2:])):
            return DOCUMENT
        if _KEPT.search(key):
            return DOCUMENT_VERSION
    return OTHER
