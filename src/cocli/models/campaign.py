"""The campaign's `config.toml`: one schema, one spelling per setting, no unknown keys.

Reading the file, naming the line of a mistake and merging it with flags and environment is `cocli.config`'s work.
"""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from cocli.models.record import (
    DomainText,
    EmailText,
    Label,
    Latitude,
    Longitude,
    Many,
    PlaceIdText,
    Record,
    RecordPart,
    Text,
)
from cocli.models.retention.age import AgeText

CampaignName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,50}[a-z0-9])?$")]
"""Lower-case letters, digits and dashes: it becomes part of bucket names (`cocli-data-{campaign}`, 63 characters)."""

QueueName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,62}$")]


def _known_zone(name: str) -> str:
    if name == "UTC":
        return name
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # only a campaign that names one needs it

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        if _zones_are_known():
            raise ValueError(f'"{name}" is no time zone; write one such as America/Chicago') from error
    return name


def _zones_are_known() -> bool:
    """Whether this machine has a table of time zones: where it has none, a name is taken as it is."""
    from zoneinfo import available_timezones

    return bool(available_timezones())


TimezoneName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_]+(?:/[A-Za-z0-9_+-]+)*$"), AfterValidator(_known_zone)
]
SourceName = Label
"""Which ones there are is known further up, where the sources are; `cocli.config` asks them (`choices`)."""
Positive = Annotated[int, Field(ge=1)]
WorkerCount = Annotated[int, Field(ge=0, le=1000)]
"""How many processes a machine may be told to run for one queue."""
ProxyAddress = Annotated[str, StringConstraints(pattern=r"^http://[^/?#\s]+/?$", max_length=2000)]


class CampaignSection(RecordPart):
    """`[campaign]`: who is looking, and in whose name."""

    name: CampaignName
    tag: Label | None = None
    """The tag that companies of this campaign get; the campaign's name where it is not set."""
    company: Label | None = None
    timezone: TimezoneName = "UTC"
    account: Label = "default"
    """The owner of the documents: every read of the document repository names it."""


class Location(RecordPart):
    """A circle on the map, in which the campaign looks."""

    name: Label
    lat: Latitude
    lon: Longitude
    radius_miles: Annotated[float, Field(gt=0, le=1000)] = 25.0


class ProspectingSection(RecordPart):
    """`[prospecting]`: what is looked for, where, and in which sources."""

    queries: Many[Label] = ()
    locations: Many[Location] = ()
    locations_csv: Text | None = None
    area: Text | None = None
    """A GeoJSON or KML file whose polygons are the territory."""
    sources: Many[SourceName] = ("overture",)
    goal: Positive | None = None
    """How many prospects are enough."""

    @model_validator(mode="after")
    def _one_territory(self) -> Self:
        given = [name for name in ("locations", "locations_csv", "area") if getattr(self, name) not in ((), None)]
        if len(given) > 1:
            raise ValueError(f"give one of locations, locations_csv and area, not {' and '.join(given)}")
        return self


class ExcludeSection(RecordPart):
    """`[exclude]`: what is never a prospect."""

    domains: Many[DomainText] = ()
    names: Many[Label] = ()
    place_ids: Many[PlaceIdText] = ()


class StorageSection(RecordPart):
    """`[storage]`: where the objects are. Credentials come from the usual AWS places, never from this file."""

    url: Annotated[
        str,
        StringConstraints(
            pattern=r"^(?:local|(?:file://|~)?/.*|(?:s3|az)://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:[/?].*)?)$"
        ),
    ] = "local"
    """The data home, another folder, or a bucket."""
    endpoint: Text | None = None
    region: Label | None = None
    profile: Label | None = None


LEASE_SECONDS = 300
"""How long a worker may be silent, where nobody says otherwise."""


class QueueSection(RecordPart):
    """`[queue]`: who keeps the tasks, how long a worker may be silent, how often a task is tried."""

    provider: Label = "store"
    """`store` follows the store; `filesystem` and `s3` insist on that kind of store."""
    lease_seconds: Annotated[int, Field(ge=5, le=86_400)] = LEASE_SECONDS
    attempts: Annotated[int, Field(ge=1, le=100)] = 5
    paused: Many[QueueName] = ()
    """Queues that no supervisor runs workers for."""


def _not_intake(name: str) -> str:
    if name == "intake":
        raise ValueError("an edition may not be called intake: that is the folder of what came in")
    return name


_EditionName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200, pattern=r"^[^|\x00-\x1f\x7f]+$"),
    AfterValidator(_not_intake),
]


class ClusterSection(RecordPart):
    """`[cluster]`: the name under which this installation saves the states of documents, and its machines."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^|\x00-\x1f\x7f]+$")] = "main"
    hosts: Many[Label] = ()

    @model_validator(mode="after")
    def _not_intake(self) -> Self:
        if self.id == "intake":
            raise ValueError("a cluster may not be called intake: that is the folder of what came in")
        return self


class DocumentsSection(RecordPart):
    """`[documents]`: where the table of documents is, and how the document service answers."""

    catalog: Text | None = None
    """`sqlite:///path` or `postgresql://user@host/database`, without a password: that comes from `PGPASSWORD` or the
    password file of PostgreSQL. A SQLite file per store on this machine where it is not set."""
    edition: _EditionName | None = None
    """The edition of the parsers whose states the campaign lives by: its workers write and read it. The name that
    `[cluster] id` gives where it is not set. `cocli documents promote` sets it."""
    prefix: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")] = "uploads"
    """The folder of the documents in the store."""
    inline_limit: Annotated[int, Field(ge=0, le=1_048_576)] = 65_536
    """Bytes from which on a blob is an object of its own."""
    events: Literal["none", "queue", "kafka"] = "none"
    """Who carries references to the nodes of graphs: nobody, the campaign's queues, or Kafka. Where nobody does, no
    event is written."""
    kafka_servers: Text | None = None
    """`host:port` of Kafka, several with commas; for `events = "kafka"`."""
    kafka_tls: bool = False
    """Whether the connection to Kafka is encrypted, and the broker's certificate checked."""
    kafka_ca: Text | None = None
    """A PEM file with the authority that signed the broker's certificate; those that the system trusts where it is not
    set."""
    kafka_certificate: Text | None = None
    """A PEM file with a certificate of our own, for a broker that asks for one."""
    kafka_key: Text | None = None
    """The PEM file of its private key, which nobody else may read."""
    kafka_user: Text | None = None
    """The name that a broker with logins knows us by. The password is in `COCLI_KAFKA_PASSWORD`, never in a file of
    settings."""
    kafka_mechanism: Literal["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"] = "SCRAM-SHA-512"
    """How the password is shown. By `PLAIN` the broker learns it, by the others it does not."""
    max_waiting_events: Annotated[int, Field(ge=1, le=100_000_000)] = 100_000
    """Events of an account that may wait to be sent. Beyond it a save that needs one is refused, and may be tried
    again: a broker that stays away must not fill the disk."""
    host: Label = "127.0.0.1"
    """Where the service listens. Beyond this machine it needs a certificate."""
    grpc_port: Annotated[int, Field(ge=0, le=65_535)] = 8788
    """0 takes one that is free."""
    http_port: Annotated[int, Field(ge=0, le=65_535)] = 8789
    tls_certificate: Text | None = None
    """A PEM file with the service's certificate and those above it."""
    tls_key: Text | None = None
    """The PEM file of its private key."""
    secret_file: Text | None = None
    """The file with the secret that tokens are signed with; one in the state folder where it is not set."""
    max_message_bytes: Annotated[int, Field(ge=4096, le=536_870_912)] = 67_108_864
    """The largest request and answer of the gRPC service."""
    max_upload_bytes: Annotated[int, Field(ge=1, le=17_179_869_184)] = 17_179_869_184
    """The largest file that is uploaded by HTTP."""
    max_connections: Annotated[int, Field(ge=128, le=65_536)] = 512
    """Of an HTTP service, and of the gRPC service. Beyond it a new connection takes the place of one that waits."""
    max_connections_per_address: Annotated[int, Field(ge=128, le=65_536)] = 256
    """Of one caller's address, by HTTP. Raise it behind a proxy, which has one address for everybody."""
    account_requests_per_minute: Annotated[int, Field(ge=0)] = 0
    """Requests that one account may send to a service in a minute; 0 is no limit."""
    account_bytes_per_minute: Annotated[int, Field(ge=0)] = 0
    """Bytes that one account may send to a service in a minute; 0 is no limit."""
    account_pace: Annotated[int, Field(ge=0)] = 400
    """Requests of one account that a service takes in a second while others ask as well; what comes quicker waits. 0 is
    no limit."""
    account_replays: Annotated[int, Field(ge=0, le=1000)] = 4
    """Replays of one account that a service runs at a time; 0 is no limit."""

    @field_validator("catalog")
    @classmethod
    def _address_without_password(cls, address: str | None) -> str | None:
        if address is None:
            return None
        scheme, separator, rest = address.partition("://")
        if not separator or scheme == "sqlite":
            return address
        if scheme not in ("postgresql", "postgres"):
            raise ValueError("must be sqlite:///path or postgresql://user@host/database")
        user = rest.partition("/")[0].rpartition("@")[0]
        if ":" in user or "password" in rest.partition("?")[2].lower():
            raise ValueError("has a password in it; it belongs into PGPASSWORD or the password file of PostgreSQL")
        return address


def networks_checked(networks: tuple[str, ...]) -> tuple[str, ...]:
    """`ValueError` for what is no range of addresses."""
    for number, text in enumerate(networks, 1):
        try:
            ip_network(text)
        except ValueError as error:
            raise ValueError(f"entry {number} is not a range of addresses such as 10.20.0.0/16") from error
    return networks


class RetentionSection(RecordPart):
    """`[retention]`: how long each kind of thing is kept. What is not named is kept until somebody removes it."""

    captures: AgeText | None = None
    """Pages and other documents as they came in, with all that was made of them."""
    editions: AgeText | None = None
    """What editions of the parsers made that no campaign uses any more."""
    versions: AgeText | None = None
    """Earlier versions of documents."""
    keep_versions: Annotated[int, Field(ge=0, le=1000)] = 0
    """So many earlier versions of a document stay, however old they are."""
    exports: AgeText | None = None
    reports: AgeText | None = None
    completed: AgeText | None = None
    """Tasks that are done. Who plans again later does them again."""
    set_aside: AgeText | None = None
    """Tasks that were given up."""
    index_versions: AgeText | None = None
    """Earlier versions of the indexes, with what records were then."""
    bucket_versions: AgeText = "30d"
    """What was removed or replaced in a bucket that keeps versions goes for good after so long."""
    automatic: bool = False
    """Whether the elected supervisor applies the rules, once a day. It leaves pages alone that values still name."""


class ProcessingSection(RecordPart):
    """`[processing]`: what the register of processing says that no other setting does."""

    controller: Text | None = None
    """Who decides on the processing: name and address."""
    contact: Text | None = None
    """Whom people may ask what is held about them."""
    purpose: Text | None = None
    basis: Text | None = None
    """Why that is allowed."""
    recipients: Many[Text] = ()


class FetchSection(RecordPart):
    """`[fetch]`: how politely pages are read."""

    rate: Annotated[float, Field(gt=0, le=100)] = 1.0
    """Requests per second to one site."""
    per_address: Annotated[int, Field(ge=1, le=1000)] = 4
    """Requests at a time to one address, over all the sites that lie there. More than 64 are not counted."""
    address_rate: Annotated[float, Field(gt=0, le=100_000)] = 8.0
    """Requests per second to one address, over all the sites that lie there. Never below `rate`."""
    user_agent: Label | None = None
    robots: bool = True
    proxies: Many[ProxyAddress] = ()
    """`http://host:port`. A worker goes through one of them. With a login only in `COCLI_FETCH_PROXIES`, or in the file
    that `COCLI_FETCH_PROXIES_FILE` names: a password is not taken from a campaign's or a user's file."""
    allow_networks: Many[Text] = ()
    """Private ranges that may be read all the same, such as `10.20.0.0/16`. Without it only the public internet is."""
    allow_ports: Many[Annotated[int, Field(ge=1, le=65_535)]] = ()
    """Besides 80, 443, 8080 and 8443."""
    concurrency: Annotated[int, Field(ge=1, le=10_000)] = 2000
    """Sites that a worker reads at a time, at most: it finds out how many this machine can bear."""
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 30.0
    """For the head of an answer, and again for its whole body."""
    max_page_bytes: Annotated[int, Field(ge=1024, le=104_857_600)] = 5_242_880
    """What is longer is cut off."""
    mx: bool = False
    """Ask the name server whether the domains of e-mail addresses take mail."""
    browser: bool = False
    """Let a browser fill pages that are empty without scripts. Needs the extra `browser` and Chromium."""
    hosts_file: Text | None = None
    """A JSON file of host names with the address and port they lead to; all other names are looked up as always."""

    _are_networks = field_validator("allow_networks")(networks_checked)


class GoogleMapsSection(RecordPart):
    """`[google_maps]`: how slowly Google Maps is read, where the campaign names it as a source."""

    url: Annotated[str, StringConstraints(pattern=r"^https?://[^/?#\s]+/?$")] = "https://www.google.com"
    """Whose maps are read."""
    pages_per_day: Annotated[int, Field(ge=1, le=100_000)] = 400
    """Of one machine, over all its workers and campaigns."""
    pause_seconds: Annotated[float, Field(ge=0, le=3600)] = 6.0
    """Between two pages of one machine, on average."""
    tabs: Annotated[int, Field(ge=1, le=8)] = 2
    """Pages that one worker has open at the same time, all at the machine's one pace."""
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 45.0
    """For a page to show anything."""


class AwsSection(RecordPart):
    """`[aws]`: the account in which the queues live."""

    profile: Label | None = None
    region: Label | None = None
    endpoint: Text | None = None
    """A server that stands in for Amazon's SQS."""
    account_id: Annotated[str, StringConstraints(pattern=r"^[0-9]{12}$")] | None = None


class WebSection(RecordPart):
    """`[web]`: where the dashboard listens, and how it is reached."""

    host: Label = "127.0.0.1"
    """Where it listens. Beyond this machine it needs a login and a certificate, or `behind_proxy`."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8765
    """0 takes one that is free."""
    url: Annotated[str, StringConstraints(pattern=r"^https?://[^/?#\s]+$")] | None = None
    """The address that people open, where a proxy stands in front."""
    allowed_hosts: Many[Label] = ()
    """Names under which it may be asked for, beside the address that it listens on."""
    behind_proxy: bool = False
    """A proxy in front ends TLS: the dashboard may listen beyond this machine without a certificate."""
    tls_certificate: Text | None = None
    """A PEM file with the certificate and those above it."""
    tls_key: Text | None = None
    """The PEM file of its private key."""
    basemap: Text | None = None
    """Tiles for the map: a `.pmtiles` file of this machine or its address, or an address with `{z}`, `{x}` and `{y}`.
    Without it, coasts and towns."""
    basemap_credits: Text | None = None
    """Who made those tiles, as it is shown on the map: most of them want to be named."""
    session_hours: Annotated[float, Field(gt=0, le=720)] = 12.0
    """After so long everybody logs in again."""
    max_upload_bytes: Annotated[int, Field(ge=1024, le=268_435_456)] = 33_554_432
    """The largest list or map that is uploaded."""
    deploy_to: Text | None = None
    """Where `web deploy` writes: a folder, or `s3://bucket/prefix`."""
    guard: Literal["none", "edge"] = "none"
    """Who may read what was deployed: `edge` says that something in front of the bucket asks for a login."""
    distribution: Annotated[str, StringConstraints(pattern=r"^[A-Z0-9]{8,32}$")] | None = None
    """The CloudFront distribution whose copies of changed files are made invalid."""
    webhook_networks: Many[Text] = ()
    """Private ranges whose addresses may be told of events, such as `10.20.0.0/16`. Without it only addresses of the
    public internet are."""

    _are_networks = field_validator("webhook_networks")(networks_checked)


class AuthSection(RecordPart):
    """`[auth]`: who may look at the dashboard, and who may change something."""

    provider: Literal["link", "oidc"] = "link"
    """`link`: whoever starts the server gets a link for one login. `oidc`: a provider of OpenID Connect tells."""
    issuer: Annotated[str, StringConstraints(pattern=r"^https?://[^?#\s]+$")] | None = None
    """The address of the provider; everything else is found there."""
    client_id: Label | None = None
    client_secret_file: Text | None = None
    """A file with the client's secret; none for a public client."""
    scopes: Many[Label] = ("openid", "email", "profile")
    role_claim: Label | None = None
    """The claim that names roles: `viewer`, `editor`, `admin`, or `CAMPAIGN:editor` for one campaign."""
    viewers: Many[Label] = ()
    """E-mail addresses or subjects who may look; `*` for everybody who can log in."""
    editors: Many[Label] = ()
    """… who may change tags, notes, exclusions and phrases."""
    admins: Many[Label] = ()
    """… who may do everything."""


ChangeKindName = Literal["new", "closed", "missing", "moved", "renamed", "phone", "email", "website", "came_back"]
WatchedField = Literal[
    "name", "kind", "before", "after", "city", "phone", "email", "website", "found_at", "reason", "company_hash"
]
IntervalText = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,5}(?:h|d|w)$")]
"""`12h`, `30d`, `8w`."""


class RefreshSection(RecordPart):
    """`[refresh]`: how often what was read is read again, so that the list stays true."""

    every: IntervalText | None = None
    """How old a reading may become, such as `30d`. Without it nothing is read again by itself."""
    sources: dict[SourceName, IntervalText] = Field(default_factory=dict)
    """`[refresh.sources]`: another age for some sources: `google-maps = "14d"`."""
    stages: dict[QueueName, IntervalText] = Field(default_factory=dict)
    """`[refresh.stages]`: another age for a stage: `enrichment = "60d"` for websites, `gm-list` for searches."""
    budget: Annotated[int, Field(ge=0, le=100_000_000)] = 5000
    """Requests a day that reading again may cost, over all machines; 0 allows none."""
    fetch: Literal["loaded", "territory", "never"] = "loaded"
    """Newer releases of open data. `loaded`: a machine that has loaded a box (`cocli source fetch`) loads newer
    releases of it, from the same place. `territory`: one that has loaded nothing loads the box around the territory."""
    closed_after: Annotated[int, Field(ge=1, le=100)] = 3
    """After so many complete readings in a row that do not show it, a business counts as closed."""


_TOLD_FIELDS: tuple[WatchedField, ...] = ("name", "kind", "before", "after", "city", "phone", "email", "website")


class WatchSection(RecordPart):
    """`[[watch]]`: what changes are of interest, and who is told of them."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    kinds: Many[ChangeKindName] = ()
    """Only changes of these kinds; all where none is named."""
    cities: Many[Label] = ()
    categories: Many[Label] = ()
    """Parts of a category: `plumb` is in `Plumbing service`."""
    tags: Many[Label] = ()
    fields: Many[WatchedField] = _TOLD_FIELDS
    """What is told of each change."""
    file: bool = True
    """Keep a table of all that was told in the campaign's `exports/watches/`."""
    digest: bool = False
    """Write a message that is ready to be sent (`.eml`) for each delivery."""
    to: Many[EmailText] = ()
    webhook: Annotated[str, StringConstraints(pattern=r"^https?://[^\s#]+$", max_length=2000)] | None = None
    """An address that is called, with a signature. Private ones need `[web] webhook_networks`."""
    secret_file: Text | None = None
    """The file, on every machine that tells, with the secret that calls are signed with."""


def _left_out() -> Any:
    """A section that a file leaves out is an empty one: it is checked as if it stood there."""
    return {}


class CampaignConfig(Record):
    """The whole file."""

    schema_id = "cocli.campaign/1"

    campaign: CampaignSection
    prospecting: ProspectingSection = Field(default_factory=_left_out)
    exclude: ExcludeSection = Field(default_factory=_left_out)
    storage: StorageSection = Field(default_factory=_left_out)
    queue: QueueSection = Field(default_factory=_left_out)
    workers: dict[Label, dict[QueueName, WorkerCount]] = Field(default_factory=dict)
    """`[workers.{hostname}]`: how many workers of each queue a machine runs."""
    cluster: ClusterSection = Field(default_factory=_left_out)
    documents: DocumentsSection = Field(default_factory=_left_out)
    retention: RetentionSection = Field(default_factory=_left_out)
    processing: ProcessingSection = Field(default_factory=_left_out)
    fetch: FetchSection = Field(default_factory=_left_out)
    google_maps: GoogleMapsSection = Field(default_factory=_left_out)
    aws: AwsSection = Field(default_factory=_left_out)
    web: WebSection = Field(default_factory=_left_out)
    auth: AuthSection = Field(default_factory=_left_out)
    refresh: RefreshSection = Field(default_factory=_left_out)
    watch: Many[WatchSection] = ()
    """`[[watch]]`: who is told when something changes."""
