"""What machines say: about themselves every two minutes, about a campaign that one of them has finished, about their
keys; what is said of one that was evicted, or of a token that was ended; and what a worker says to its machine."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cocli.models.campaign import CampaignName, QueueName
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime
from cocli.models.task import Nonce, TaskId

Percent = Annotated[float, Field(ge=0, le=100)]


class ActiveTask(RecordPart):
    """A task in work: since when, by which worker process."""

    task_id: TaskId
    worker: Label
    claimed_at: UtcDatetime


class Versions(RecordPart):
    cocli: Label
    python: Label
    system: Label
    build: Label | None = None
    """The beginning of the hash of the wheel, where `cocli deploy` brought it."""


class Heartbeat(Record):
    """`status/{hostname}.json`."""

    schema_id = "cocli.heartbeat/1"
    key = ("hostname",)

    hostname: Label
    machine: Label | None = None
    """Made up once per machine: two machines of one name are told apart by it."""
    campaign: CampaignName
    at: UtcDatetime
    """By the machine's own clock: the store's tells how far that one is off."""
    started_at: UtcDatetime
    stopped_at: UtcDatetime | None = None
    """The supervisor ended as it should: nothing more is to be expected."""
    period_seconds: Annotated[float, Field(gt=0)] = 120.0
    """When to expect the next one."""
    cpu_percent: Percent
    ram_percent: Percent
    ram_bytes: Count
    disk_free_bytes: Count
    temperature: float | None = None
    versions: Versions
    workers: dict[QueueName, Count] = Field(default_factory=dict)
    """Queue → worker processes that run."""
    active: dict[QueueName, Many[ActiveTask]] = Field(default_factory=dict)
    completed: dict[QueueName, Count] = Field(default_factory=dict)
    """Queue → tasks finished since the start."""
    rates: dict[QueueName, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    """Queue → tasks finished per minute, lately."""
    limited_by: dict[QueueName, Label] = Field(default_factory=dict)
    """Queue → what holds its workers up now: network, politeness, processor, memory, sockets, store, nothing waits."""
    last_error: Text | None = None


class UpkeepRecord(Record):
    """`campaigns/{campaign}/reports/upkeep.json`. Whoever is elected next goes on from here."""

    schema_id = "cocli.upkeep/1"
    key = ("campaign",)

    campaign: CampaignName
    host: Label
    token: Annotated[int, Field(ge=1)]
    """The fencing number of its election."""
    settled_at: UtcDatetime | None = None
    """When records were last brought together, by the store's clock."""
    prospects: Count = 0
    """Businesses there were then."""
    seen: dict[Label, Text] = Field(default_factory=dict)
    """What lay there when settling last changed nothing: as long as it lies there so, nothing is to be settled."""
    finished_at: UtcDatetime | None = None
    """When pages, completions, copies and the report were last made."""
    finished: dict[Label, Text] = Field(default_factory=dict)
    """What lay there then."""
    swept_at: UtcDatetime | None = None
    """When what killed writers left was last swept, once a day."""
    refreshed_at: UtcDatetime | None = None
    """When it was last looked what is due to be read again."""
    seconds: Annotated[float, Field(ge=0)] = 0.0
    """How long the last round took."""
    problem: Text | None = None
    """Why the last round failed; null after one that did not."""
    nonce: Nonce


class MachineAccess(Record):
    """`access/{hostname}.json`, written when a supervisor starts. It holds no secret."""

    schema_id = "cocli.machine-access/1"
    key = ("hostname",)

    hostname: Label
    machine: Label
    """Made up once per machine, as in its heartbeat."""
    access_key: Label | None = None
    """The id of the key that it signs with; null for what a role or an instance lends it."""
    credentials: Label
    """Where they were found: the environment, a profile, a role."""
    at: UtcDatetime


class Eviction(Record):
    """`evictions/{hostname}.json`: it holds until the machine is admitted again, and is kept even then.

    Kept, because a token that was made for the machine before stays refused: whoever stole it still has it.
    """

    schema_id = "cocli.eviction/1"
    key = ("hostname",)

    hostname: Label
    machine: Label | None = None
    """The one that had this name, if its heartbeat told."""
    evicted_at: UtcDatetime
    """By the store's clock."""
    evicted_by: Label
    reason: Text | None = None
    access_key: Label | None = None
    """The id of the key that it signed with, if it told."""
    last_seen: UtcDatetime | None = None
    """When it had reported last, by the store's clock."""
    admitted_at: UtcDatetime | None = None
    admitted_by: Label | None = None
    sequence: Count = 0
    """Grows with every replacement."""
    nonce: Nonce

    @model_validator(mode="after")
    def _admitted_by_somebody(self) -> Self:
        if (self.admitted_at is None) != (self.admitted_by is None):
            raise ValueError("admitted_at and admitted_by are said together")
        return self

    @property
    def holds(self) -> bool:
        return self.admitted_at is None


class TokenRevocation(Record):
    """`revocations/{token}.json`: every service of the store refuses the token of this id. It is never changed."""

    schema_id = "cocli.token-revocation/1"
    key = ("token",)

    token: Label
    """The id of the token (`jti`), never the token itself."""
    revoked_at: UtcDatetime
    """By the store's clock."""
    revoked_by: Label
    reason: Text | None = None


class SubscriptionRecord(Record):
    """`subscriptions/{account}/{datasource}/{edition}.json`: a catalogue that is built anew takes it over from here."""

    schema_id = "cocli.subscription/1"
    key = ("account", "datasource", "edition")

    account: Label
    datasource: Label
    edition: Label
    since: UtcDatetime
    """By the store's clock."""


class WorkerReport(Record):
    """What a worker process tells its supervisor, one line of JSON whenever something changed.

    Counts are since the worker's start: the newest line says everything."""

    schema_id = "cocli.worker-report/1"

    queue: QueueName
    worker: Label
    active: Many[ActiveTask] = ()
    ended: dict[Label, Count] = Field(default_factory=dict)
    """How tasks ended → how many: completed, already_completed, waiting, sidelined, lost, released."""
    last_error: Text | None = None
    limited_by: Label | None = None
    """What holds its work up now: network, politeness, processor, memory, sockets, store, nothing waits."""
    longest_lag: float | None = None
    """Seconds by which its event loop was late once; None where it has none."""

    @property
    def completed(self) -> int:
        return self.ended.get("completed", 0)
