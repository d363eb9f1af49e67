"""The namespace: the only place where a key is built or taken apart.

Every row of docs/format.md §1 is a small class below. `str(key)` builds the key, `parse(text)` reads any key back
into its class, and both refuse what does not belong, naming the part. Where a shard follows from the id it is never
passed in, and a key whose shard does not follow is not a valid key. (Of an address only the hash is in its key, so
there the shard of its domain stands beside it: `EmailKey.of` takes the address.)

    str(TaskKey("plumbers", "gm-details", "ChIJyUzh2kXqwoARUtNFG8VjnYQ"))
    → campaigns/plumbers/queues/gm-details/pending/u/ChIJyUzh2kXqwoARUtNFG8VjnYQ/task.json
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from cocli.errors import InvalidKey
from cocli.keys.codecs import (
    CLUSTER,
    COMPLETION_FORMAT,
    DAY,
    HASH2,
    HASH16,
    PATH,
    SHA256,
    TILE,
    UUID,
    VERSION,
    Codec,
)
from cocli.keys.identities import domain_hash, email_hash, email_shard, task_shard
from cocli.keys.key import KINDS, Key
from cocli.keys.parts import ShortenedPart, check_key, decode_part, encode_part
from cocli.keys.tile import Tile  # noqa: TC001 - dataclasses of keys are built with it

if TYPE_CHECKING:
    from collections.abc import Sequence

CAMPAIGNS_FOLDER = "campaigns/"
STATUS_FOLDER = "status/"
ACCESS_FOLDER = "access/"
EVICTIONS_FOLDER = "evictions/"
REVOCATIONS_FOLDER = "revocations/"
SUBSCRIPTIONS_FOLDER = "subscriptions/"
GLOBAL_INDEXES = frozenset({"scraped-tiles", "domains"})
"""Indexes that campaigns share: what is known of a website or a tile does not depend on who asked."""


def campaign_folder(campaign: str) -> str:
    return f"{CAMPAIGNS_FOLDER}{encode_part(campaign)}/"


def queue_folder(campaign: str, queue: str, state: str = "") -> str:
    """The folder of a queue, or of one of its parts: pending, completed, sideline, count."""
    folder = f"{queues_folder(campaign)}{encode_part(queue)}/"
    return f"{folder}{encode_part(state)}/" if state else folder


def queues_folder(campaign: str) -> str:
    """Where all queues of a campaign lie."""
    return f"{campaign_folder(campaign)}queues/"


def results_folder(campaign: str, what: str) -> str:
    """Where things for people lie: `exports`, `reports`; and `retention`, what was removed by rule."""
    return f"{campaign_folder(campaign)}{encode_part(what)}/"


def quality_folder(campaign: str) -> str:
    """Where the self-checks of a campaign's parsers lie."""
    return f"{campaign_folder(campaign)}quality/"


def probe_folder(name: str) -> str:
    """Where a store is tried out. What lies there is nobody's data and is removed afterwards."""
    return f"probes/{encode_part(name)}/"


_TASK_FILE = "task.json"
_LEASE_FILE = "lease.json"
TASK_FOLDER = (_TASK_FILE, _LEASE_FILE)
"""What lies in the folder of a pending task, in the order in which it is removed."""


def task_files(folder: str) -> tuple[str, str]:
    """The task and the lease in the folder of a pending task."""
    return folder + _TASK_FILE, folder + _LEASE_FILE


def task_folder(key: str) -> tuple[str, bool] | None:
    """The folder of a pending task that a listed key lies in, and whether the key is its lease; None for other keys.

    For listings, where taking every key apart in full (`TaskKey.parse`) would cost more than the listing itself.
    """
    if key.endswith("/" + _TASK_FILE):
        return key[: -len(_TASK_FILE)], False
    if key.endswith("/" + _LEASE_FILE):
        return key[: -len(_LEASE_FILE)], True
    return None


def task_folders(keys: Sequence[str]) -> tuple[list[str], dict[str, int]]:
    """The folders of the tasks among listed keys, and those of the leases with the places of their keys.

    As `task_folder`, for a thousand at a time: every worker reads such pages, and most of what it reads is not new.
    """
    task, lease = "/" + _TASK_FILE, "/" + _LEASE_FILE
    folders = [key[: -len(_TASK_FILE)] for key in keys if key.endswith(task)]
    leases = {key[: -len(_LEASE_FILE)]: place for place, key in enumerate(keys) if key.endswith(lease)}
    return folders, leases


def task_id_of(folder: str) -> str:
    """The id of the task in a pending folder (a `ShortenedPart` where the id was too long to be kept)."""
    return decode_part(folder[:-1].rsplit("/", 1)[-1])


def is_completion(key: str) -> bool:
    """Whether a key is that of a result of a queue: such an object is created once, and never replaced."""
    return "/completed/" in key and key.startswith(CAMPAIGNS_FOLDER) and key.split("/")[4:5] == ["completed"]


@dataclass(frozen=True, slots=True)
class IndexRef:
    """Which index: one of a campaign, or one that campaigns share."""

    name: str
    campaign: str | None = None

    def __post_init__(self) -> None:
        if (self.campaign is None) != (self.name in GLOBAL_INDEXES):
            reason = "is shared by campaigns" if self.campaign else "belongs to a campaign, which must be named"
            raise InvalidKey(key=self.name, part=self.name, reason=reason)

    @property
    def folder(self) -> str:
        base = "" if self.campaign is None else campaign_folder(self.campaign)
        return f"{base}indexes/{encode_part(self.name)}/"


def index_folder(index: IndexRef, part: str) -> str:
    """The folder of one part of an index: shards, manifests, wal."""
    return f"{index.folder}{encode_part(part)}/"


def _decode_index(folder: str) -> IndexRef:
    parts = folder.split("/")
    campaign = decode_part(parts[1]) if parts[0] == "campaigns" else None
    return IndexRef(decode_part(parts[-1]), campaign)


_INDEX = Codec("(?:campaigns/[^/]+/)?indexes/[^/]+", lambda index: index.folder[:-1], _decode_index)


def parse(key: str) -> Key:
    """Find out what a key is. `InvalidKey` where it is nothing that cocli knows."""
    check_key(key)
    failure: InvalidKey | None = None
    for kind in KINDS:
        if kind.fits(key):
            try:
                return kind.parse(key)
            except InvalidKey as error:  # another kind may fit; if none does, this is the best explanation
                failure = failure or error
    raise failure or InvalidKey(key=key[:200], part=key.split("/", 1)[0], reason="begins no known kind of key")


def is_immutable(key: str) -> bool:
    """Whether a key names something that is written once and never changed."""
    return any(kind.IMMUTABLE and kind.fits(key) for kind in KINDS)


# --- campaigns and queues ------------------------------------------------------------------------------------------


class CampaignConfigKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/config.toml"
    campaign: str


class CategoriesKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/categories.csv"
    campaign: str


class _Sharded:
    """A key whose shard follows from its task id."""

    task_id: str
    shard: str

    def __post_init__(self) -> None:
        # The shard of a shortened id cannot be computed any more: there the one that was read is kept.
        if not (isinstance(self.task_id, ShortenedPart) and self.shard):
            vars(self).update(shard=task_shard(self.task_id))


class TaskKey(_Sharded, Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/queues/{queue}/pending/{shard}/{task_id}/task.json"
    campaign: str
    queue: str
    task_id: str
    shard: str = ""


class LeaseKey(_Sharded, Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/queues/{queue}/pending/{shard}/{task_id}/lease.json"
    campaign: str
    queue: str
    task_id: str
    shard: str = ""


class CompletedKey(_Sharded, Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/queues/{queue}/completed/{shard}/{task_id}.{format}"
    CODECS: ClassVar[dict[str, Codec]] = {"format": COMPLETION_FORMAT}
    IMMUTABLE: ClassVar[bool] = True
    campaign: str
    queue: str
    task_id: str
    format: str = "json"
    shard: str = ""


class SidelinedKey(_Sharded, Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/queues/{queue}/sideline/{category}/{shard}/{task_id}/task.json"
    campaign: str
    queue: str
    category: str
    task_id: str
    shard: str = ""


class QueueCountKey(Key):
    """The tasks of a queue, counted once: nobody has to list them again to know how many there are."""

    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/queues/{queue}/count/count.json"
    campaign: str
    queue: str


class QueueTallyKey(Key):
    """What one process has changed in a queue since it began."""

    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/queues/{queue}/count/tallies/{writer}.json"
    campaign: str
    queue: str
    writer: str


# --- loose records of the indexes ----------------------------------------------------------------------------------


class ProspectKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/indexes/prospects/{shard}/{company_hash}.usv"
    CODECS: ClassVar[dict[str, Codec]] = {"company_hash": HASH16}
    campaign: str
    company_hash: str
    shard: str = ""

    def __post_init__(self) -> None:
        vars(self).update(shard=self.company_hash[:1])


class EmailKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/indexes/emails/{domain_shard}/{email_hash}.usv"
    CODECS: ClassVar[dict[str, Codec]] = {"domain_shard": HASH2, "email_hash": HASH16}
    campaign: str
    domain_shard: str
    email_hash: str

    @classmethod
    def of(cls, campaign: str, email: str) -> EmailKey:
        return cls(campaign, email_shard(email), email_hash(email))


class DomainKey(Key):
    TEMPLATE: ClassVar[str] = "indexes/domains/{domain_shard}/{domain_hash}.usv"
    CODECS: ClassVar[dict[str, Codec]] = {"domain_shard": HASH2, "domain_hash": HASH16}
    domain_hash: str
    domain_shard: str = ""

    def __post_init__(self) -> None:
        vars(self).update(domain_shard=self.domain_hash[:2])

    @classmethod
    def of(cls, domain: str) -> DomainKey:
        return cls(domain_hash(domain))


class WitnessKey(Key):
    TEMPLATE: ClassVar[str] = "indexes/scraped-tiles/{tile}/{phrase}/{source}.csv"
    CODECS: ClassVar[dict[str, Codec]] = {"tile": TILE}
    tile: Tile
    phrase: str
    source: str


class FormerWitnessKey(Key):
    """Where a witness lay before there was one for each source: still read, never written."""

    TEMPLATE: ClassVar[str] = "indexes/scraped-tiles/{tile}/{phrase}.csv"
    CODECS: ClassVar[dict[str, Codec]] = {"tile": TILE}
    tile: Tile
    phrase: str


class TargetTileKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/indexes/target-tiles/{tile}/{phrase}.csv"
    CODECS: ClassVar[dict[str, Codec]] = {"tile": TILE}
    campaign: str
    tile: Tile
    phrase: str


class HarvestedTileKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/indexes/harvested-tiles/{tile}/{phrase}/{source}.csv"
    CODECS: ClassVar[dict[str, Codec]] = {"tile": TILE}
    campaign: str
    tile: Tile
    phrase: str
    source: str


class TileRollKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/indexes/rolls/{tile}/{phrase}/{source}.usv"
    CODECS: ClassVar[dict[str, Codec]] = {"tile": TILE}
    campaign: str
    tile: Tile
    phrase: str
    source: str


class StandingKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/indexes/standings/{shard}/{company_hash}.usv"
    CODECS: ClassVar[dict[str, Codec]] = {"company_hash": HASH16}
    campaign: str
    company_hash: str
    shard: str = ""

    def __post_init__(self) -> None:
        vars(self).update(shard=self.company_hash[:1])


class ChangeKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/indexes/changes/{shard}/{change_id}.usv"
    CODECS: ClassVar[dict[str, Codec]] = {"change_id": HASH16}
    campaign: str
    change_id: str
    shard: str = ""

    def __post_init__(self) -> None:
        vars(self).update(shard=self.change_id[:1])


# --- packed indexes ------------------------------------------------------------------------------------------------


class WalKey(Key):
    TEMPLATE: ClassVar[str] = "{index}/wal/{day}/{content_hash}.usv"
    CODECS: ClassVar[dict[str, Codec]] = {"index": _INDEX, "day": DAY, "content_hash": SHA256}
    IMMUTABLE: ClassVar[bool] = True
    index: IndexRef
    day: str
    content_hash: str


class ShardKey(Key):
    TEMPLATE: ClassVar[str] = "{index}/shards/{sha256}.usv"
    CODECS: ClassVar[dict[str, Codec]] = {"index": _INDEX, "sha256": SHA256}
    IMMUTABLE: ClassVar[bool] = True
    index: IndexRef
    sha256: str


class ManifestKey(Key):
    TEMPLATE: ClassVar[str] = "{index}/manifests/{version}-{sha256}.json"
    CODECS: ClassVar[dict[str, Codec]] = {"index": _INDEX, "version": VERSION, "sha256": SHA256}
    IMMUTABLE: ClassVar[bool] = True
    index: IndexRef
    version: int
    sha256: str


class LatestKey(Key):
    TEMPLATE: ClassVar[str] = "{index}/LATEST"
    CODECS: ClassVar[dict[str, Codec]] = {"index": _INDEX}
    index: IndexRef


class DatapackageKey(Key):
    TEMPLATE: ClassVar[str] = "{index}/datapackage.json"
    CODECS: ClassVar[dict[str, Codec]] = {"index": _INDEX}
    index: IndexRef


# --- what people edit ----------------------------------------------------------------------------------------------


class CompanyKey(Key):
    TEMPLATE: ClassVar[str] = "companies/{slug}/_index.md"
    slug: str


class NoteKey(Key):
    TEMPLATE: ClassVar[str] = "companies/{slug}/notes/{name}.md"
    slug: str
    name: str


class MeetingKey(Key):
    TEMPLATE: ClassVar[str] = "companies/{slug}/meetings/{name}.md"
    slug: str
    name: str


class PersonKey(Key):
    TEMPLATE: ClassVar[str] = "people/{slug}.md"
    slug: str


# --- who is left alone ---------------------------------------------------------------------------------------------

SUPPRESSED_FOLDER = "suppressed/"
FORGOTTEN_FOLDER = "forgotten/"


class SuppressionKey(Key):
    """One value of the do-not-contact list."""

    TEMPLATE: ClassVar[str] = "suppressed/{kind}/{sha256}.json"
    CODECS: ClassVar[dict[str, Codec]] = {"sha256": SHA256}
    kind: str
    sha256: str


class ForgottenKey(Key):
    """The proof that somebody was forgotten, which every copy of the store obeys."""

    TEMPLATE: ClassVar[str] = "forgotten/{sha256}.json"
    CODECS: ClassVar[dict[str, Codec]] = {"sha256": SHA256}
    sha256: str


# --- machines ------------------------------------------------------------------------------------------------------


class HeartbeatKey(Key):
    TEMPLATE: ClassVar[str] = "status/{hostname}.json"
    hostname: str


class CampaignHeartbeatKey(Key):
    """What a machine does for one campaign, beside what it says about itself."""

    TEMPLATE: ClassVar[str] = "status/{hostname}/{campaign}.json"
    hostname: str
    campaign: str


class MachineAccessKey(Key):
    """Whose credentials a machine has: beside its heartbeat, which older programs read."""

    TEMPLATE: ClassVar[str] = "access/{hostname}.json"
    hostname: str


class EvictionKey(Key):
    TEMPLATE: ClassVar[str] = "evictions/{hostname}.json"
    hostname: str


class RevocationKey(Key):
    """A token that was ended; written once."""

    TEMPLATE: ClassVar[str] = "revocations/{token}.json"
    CODECS: ClassVar[dict[str, Codec]] = {"token": HASH16}
    token: str


class SubscriptionKey(Key):
    """An edition that gets what comes in from a datasource: kept where a lost catalogue does not take it along."""

    TEMPLATE: ClassVar[str] = "subscriptions/{account}/{datasource}/{edition}.json"
    account: str
    datasource: str
    edition: str


class ParserQualityKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/quality/{parser}.json"
    campaign: str
    parser: str


class ImportMappingKey(Key):
    """What a person said of the columns of files of one shape."""

    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/imports/{shape}.json"
    campaign: str
    shape: str


class ExtractorQualityKey(Key):
    """How often the extractors of websites fail on a machine."""

    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/quality/extractors/{hostname}.json"
    campaign: str
    hostname: str


# --- made for people and dashboards --------------------------------------------------------------------------------


class ReportKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/reports/report.json"
    campaign: str


class UpkeepKey(Key):
    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/reports/upkeep.json"
    campaign: str


class RetentionKey(Key):
    """What was removed by a rule of retention, by the day and the content of the record."""

    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/retention/{day}/{content_hash}.json"
    CODECS: ClassVar[dict[str, Codec]] = {"day": DAY, "content_hash": SHA256}
    IMMUTABLE: ClassVar[bool] = True
    campaign: str
    day: str
    content_hash: str


class RefreshRoundKey(Key):
    """What one round of refreshing has chosen."""

    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/refresh/{day}/{number}.json"
    CODECS: ClassVar[dict[str, Codec]] = {"day": DAY, "number": VERSION}
    campaign: str
    day: str
    number: int


class QueuedRoundKey(Key):
    """The mark that all tasks of a round are queued."""

    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/refresh/{day}/{number}.queued"
    CODECS: ClassVar[dict[str, Codec]] = {"day": DAY, "number": VERSION}
    campaign: str
    day: str
    number: int


class WatchStateKey(Key):
    """What a watch has told so far."""

    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/watches/{name}.json"
    campaign: str
    name: str


class ExportKey(Key):
    """`name` may have folders of its own."""

    TEMPLATE: ClassVar[str] = "campaigns/{campaign}/exports/{name}"
    CODECS: ClassVar[dict[str, Codec]] = {"name": PATH}
    campaign: str
    name: str


# --- what catalogues of documents tell each other ------------------------------------------------------------------

CATALOG_FOLDER = "catalog/"


class CatalogChangesKey(Key):
    """Rows of documents that one catalogue made: how many, and the SHA-256 of the file. It never changes, but it goes
    away when its rows are in a larger one."""

    TEMPLATE: ClassVar[str] = "catalog/{writer}/{rows}-{content_hash}.usv"
    CODECS: ClassVar[dict[str, Codec]] = {"writer": HASH16, "rows": VERSION, "content_hash": SHA256}
    writer: str
    rows: int
    content_hash: str


def catalog_writer_folder(writer: str) -> str:
    """Where one catalogue tells the others."""
    return f"{CATALOG_FOLDER}{HASH16.encode(writer)}/"


# --- documents -----------------------------------------------------------------------------------------------------
# Last, because their prefix is free: whatever ends in `{uuid}.pb` below five folders is a document.


def document_folder(prefix: str, account: str, connector: str, datasource: str, doc_id: str) -> str:
    """The folder of one document of one datasource: all that is known of it lies below."""
    parts = "/".join(encode_part(part) for part in (account, connector, datasource, doc_id))
    return f"{account_prefix(prefix)}{parts}/"


def document_files(folder: str, cluster: str | None, uuid: str, digest: str = "") -> tuple[str, str]:
    """A state in the folder of its document, and the version of it with a digest: `IntakeKey`, `ClusterStateKey` and
    the keys of their versions, for a repository that builds them by the million."""
    state = "intake" if cluster is None else CLUSTER.encode(cluster)
    base = f"{folder}{state}/{uuid}"
    return f"{base}.pb", f"{base}/{digest}.pb"


def document_path(owner: tuple[str, str, str, str], cluster: str | None, uuid: str) -> str:
    """The key of a state behind the prefix, which a table of states has no need to repeat. `owner` is account,
    connector, datasource and document."""
    folder = "/".join(map(encode_part, owner))
    return document_files(f"{folder}/", cluster, uuid)[0]


@lru_cache(maxsize=64, typed=True)  # every key of a document begins with it; a `ShortenedPart` is another thing
def account_prefix(prefix: str, account: str | None = None) -> str:
    """The folder of all documents, or of those of one account."""
    folder = f"{PATH.encode(prefix)}/"
    return folder if account is None else f"{folder}{encode_part(account)}/"


class IntakeKey(Key):
    TEMPLATE: ClassVar[str] = "{prefix}/{account}/{connector}/{datasource}/{doc_id}/intake/{uuid}.pb"
    CODECS: ClassVar[dict[str, Codec]] = {"prefix": PATH, "uuid": UUID}
    account: str
    connector: str
    datasource: str
    doc_id: str
    uuid: str
    prefix: str = "uploads"


class ClusterStateKey(Key):
    TEMPLATE: ClassVar[str] = "{prefix}/{account}/{connector}/{datasource}/{doc_id}/{cluster}/{uuid}.pb"
    CODECS: ClassVar[dict[str, Codec]] = {"prefix": PATH, "cluster": CLUSTER, "uuid": UUID}
    account: str
    connector: str
    datasource: str
    doc_id: str
    cluster: str
    uuid: str
    prefix: str = "uploads"


class IntakeVersionKey(Key):
    """An earlier version of an intake document, by its digest."""

    TEMPLATE: ClassVar[str] = "{prefix}/{account}/{connector}/{datasource}/{doc_id}/intake/{uuid}/{digest}.pb"
    CODECS: ClassVar[dict[str, Codec]] = {"prefix": PATH, "uuid": UUID, "digest": SHA256}
    IMMUTABLE: ClassVar[bool] = True
    account: str
    connector: str
    datasource: str
    doc_id: str
    uuid: str
    digest: str
    prefix: str = "uploads"


class ClusterVersionKey(Key):
    """An earlier version of a state of a cluster, by its digest."""

    TEMPLATE: ClassVar[str] = "{prefix}/{account}/{connector}/{datasource}/{doc_id}/{cluster}/{uuid}/{digest}.pb"
    CODECS: ClassVar[dict[str, Codec]] = {"prefix": PATH, "cluster": CLUSTER, "uuid": UUID, "digest": SHA256}
    IMMUTABLE: ClassVar[bool] = True
    account: str
    connector: str
    datasource: str
    doc_id: str
    cluster: str
    uuid: str
    digest: str
    prefix: str = "uploads"


class BlobKey(Key):
    """Bytes of a document, named by their content."""

    TEMPLATE: ClassVar[str] = "{prefix}/{account}/{connector}/{datasource}/{doc_id}/blobs/{sha256}.bin"
    CODECS: ClassVar[dict[str, Codec]] = {"prefix": PATH, "sha256": SHA256}
    IMMUTABLE: ClassVar[bool] = True
    account: str
    connector: str
    datasource: str
    doc_id: str
    sha256: str
    prefix: str = "uploads"


class DamagedKey(Key):
    """An object that was no document, set aside where it was found; `folder` is `intake` or the cluster."""

    TEMPLATE: ClassVar[str] = "{prefix}/{account}/{connector}/{datasource}/{doc_id}/{folder}/{uuid}.{sha256}.damaged"
    CODECS: ClassVar[dict[str, Codec]] = {"prefix": PATH, "uuid": UUID, "sha256": SHA256}
    IMMUTABLE: ClassVar[bool] = True
    account: str
    connector: str
    datasource: str
    doc_id: str
    folder: str
    uuid: str
    sha256: str
    prefix: str = "uploads"
