"""Every error that cocli raises on purpose.

    CocliError
    ├── UsageError                  the caller asked for something that makes no sense
    ├── ConfigError                 a configuration file or setting is wrong
    │   ├── ConfigSyntaxError       the file is not TOML
    │   ├── ConfigValueError        a key is unknown or its value does not fit
    │   └── StoreUrlError           the store's address cannot be understood
    ├── CampaignError
    │   ├── UnknownCampaign
    │   └── CampaignExists
    ├── DataError                   data does not have the shape it must have
    │   ├── FormatError             a file is not in its format
    │   ├── RecordError             a record does not fit its model
    │   ├── IdentityError           a text is not the identity it claims to be
    │   └── MergeError              two records are not about the same thing
    ├── PlanningError               the territory of a campaign cannot be planned
    │   ├── UnknownPlace            the gazetteer has no such name
    │   ├── AmbiguousPlace          … or several
    │   └── AreaRefused             a file of places or polygons cannot be what was meant
    ├── StoreError                  raised by every store backend, and nothing else is
    │   ├── NotFound
    │   ├── AlreadyExists           create-if-absent found the key taken
    │   ├── Conflict                compare-and-swap: the etag moved
    │   ├── Unavailable             retryable: it is not known whether the request took effect
    │   ├── StoreFull               no space or quota left; nothing was written
    │   ├── Denied
    │   ├── BucketMissing
    │   ├── ForeignServer           something answers there, and it is no store
    │   ├── InvalidKey
    │   └── UnsafeStore             the store does not honour conditional writes
    ├── QueueError
    │   ├── LeaseLost               somebody else has the task now
    │   ├── QueueUnusable           the provider that is configured lacks something
    │   └── BrokerUnavailable       retryable: Kafka did not answer, or did not take a message
    ├── IndexProblem
    │   ├── IndexDamaged            what the index needs is missing or not what its name says
    │   ├── LossesNotAccepted       rows are lost, and a person has to say that this is so
    │   ├── UnknownIndex
    │   ├── UnknownVersion          no such version is kept
    │   └── QueryError              the SQL is wrong, or asks for more than the indexes
    ├── DocumentError
    │   ├── DocumentNotFound        also said of what belongs to another account
    │   ├── DocumentDeleted         a tombstone stands there
    │   ├── DocumentInvalid         it cannot be saved as it is
    │   ├── DocumentDamaged         an object is not what its name or its header says
    │   └── DocumentContested       others change it all the time
    ├── CatalogError                the table of documents
    │   └── CatalogUnavailable      retryable
    ├── GraphError
    │   ├── GraphInvalid            the graph has faults and is not activated
    │   ├── UnknownNode
    │   ├── ConditionFailed         an edge's condition cannot be answered for a document
    │   ├── HopLimitReached         a document went through more nodes than allowed
    │   └── NodeFailed              a node's function raised, or returned what it must not
    │       └── NodeInterrupted     retryable: it timed out or lost a connection
    ├── JobError                    a replay cannot be run as it is
    │   ├── UnknownJob              also said of another account's
    │   ├── JobBusy                 somebody else runs it
    │   └── CrewLost                retryable: a process or a machine of a job is gone
    ├── ServiceError                a service of ours, seen from outside
    │   ├── TokenRefused            who calls is not known, or not any more
    │   ├── TooLarge                a request or an answer is larger than the service allows
    │   ├── TooManyRequests         retryable: one token asks more often than the service answers
    │   └── ServiceUnavailable      retryable: it did not answer, or not in time
    ├── SourceError                 files of open places, and pages of Google Maps
    │   ├── SourceMissing           no file of the source is loaded
    │   ├── SourceRefused           a file is not what it must be
    │   ├── UnusableRow             a row of a file cannot become a place
    │   ├── SourceUnreachable       retryable: there is no network, or no extension for it
    │   ├── PageUnread              retryable: a page did not load, or the browser failed
    │   ├── SourceResting           retryable: enough was asked for now
    │   └── ParserAlarm             a parser does not find any more what it used to find
    ├── SyncError                   a folder and a bucket cannot be brought together as they are
    │   ├── SyncBusy                another sync of the same two is running
    │   ├── TooManyDeletions        more would be deleted than anybody may have meant
    │   ├── SideEmptied             one side has nothing any more: that is never taken for deletions
    │   ├── ChangedWhileRead        a file moved under the reader's eyes: the next run takes it
    │   └── ChangedMeanwhile        somebody else was faster: the next run looks again
    ├── WorkerError                 a worker or a supervisor cannot go on
    │   ├── WorkerGaveUp            one failure after the other, none of them a task's
    │   └── SupervisorRunning       this host has a supervisor already
    ├── NetworkDown                 retryable: no name can be looked up from this machine
    ├── FileUnusable                a file of this machine, or the output, cannot be read or written
    └── MissingExtra                an optional dependency is not installed

A class owns its text: the docstring is the message, with the details that the raiser passes in
filled in; `remedy` is the hint, filled in the same way. Whether a retry can help is a property of
the type (`retryable`). The same error is rendered as text, JSON, a web envelope or a gRPC status.
"""

from __future__ import annotations

import inspect
import string
from typing import Any, ClassVar

from cocli.exit_codes import ExitCode


class _Details(string.Formatter):
    """Fills `{name}` in; a detail that was not given reads as `?` instead of hiding the error behind a KeyError."""

    def get_value(self, key: int | str, args: Any, kwargs: Any) -> Any:
        return kwargs.get(key, "?") if isinstance(key, str) else super().get_value(key, args, kwargs)


_fill = _Details().format


class CocliError(Exception):
    """Something went wrong: {reason}"""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[ExitCode] = ExitCode.FAILURE
    retryable: ClassVar[bool] = False
    remedy: ClassVar[str | None] = None

    def __init__(self, *, hint: str | None = None, **details: object) -> None:
        self.details = details
        self.message = _fill(inspect.cleandoc(type(self).__doc__ or ""), **details)
        self.hint = hint or (_fill(self.remedy, **details) if self.remedy else None)
        super().__init__(self.message)

    def as_dict(self) -> dict[str, object]:
        """The machine-readable form: the same for `--json`, the web and gRPC."""
        details = {
            name: value if isinstance(value, (int, float, str, bool, type(None))) else str(value)
            for name, value in self.details.items()
        }
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "retryable": self.retryable,
            "details": details,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions cross process borders (pools, xdist); details are keyword-only, so say how to build it again.
        return _rebuild, (type(self), self.hint, self.details)


def _rebuild(kind: type[CocliError], hint: str | None, details: dict[str, object]) -> CocliError:
    return kind(hint=hint, **details)


class UsageError(CocliError):
    """{reason}"""

    code = "usage"
    exit_code = ExitCode.USAGE


class ConfigError(CocliError):
    """The configuration is wrong: {reason}"""

    code = "config"
    exit_code = ExitCode.CONFIG


class ConfigSyntaxError(ConfigError):
    """{file}, line {line}: not valid TOML: {reason}"""

    code = "config_syntax"
    remedy = "Fix line {line} of {file}."


class ConfigValueError(ConfigError):
    """{file}, line {line}: {key}: {reason}"""

    code = "config_value"


class StoreUrlError(ConfigError):
    """ "{url}" is not a store: {reason}"""

    code = "store_url"
    remedy = "Give a folder (/srv/cocli), s3://bucket/prefix?endpoint=https://…, or memory://."


class CampaignError(CocliError):
    """Campaign {campaign}: {reason}"""

    code = "campaign"


class UnknownCampaign(CampaignError):
    """There is no campaign "{campaign}". Known campaigns: {known}."""

    code = "unknown_campaign"
    exit_code = ExitCode.NOT_FOUND
    remedy = "Create it with: cocli campaign new {campaign}"


class CampaignExists(CampaignError):
    """Campaign "{campaign}" exists already."""

    code = "campaign_exists"
    exit_code = ExitCode.CONFLICT
    remedy = "Look at it with: cocli campaign show {campaign}"


class DataError(CocliError):
    """The data is not as it must be: {reason}"""

    code = "data"
    exit_code = ExitCode.DATA


class FormatError(DataError):
    """{file}, line {line}: {reason}"""

    code = "format"


class RecordError(DataError):
    """The record does not fit {model}: {reason}"""

    code = "record"


class IdentityError(DataError):
    """ "{text}" is not a {kind}: {reason}"""

    code = "identity"


class MergeError(DataError):
    """Two {model} records cannot be merged: their {field} differs ({left} and {right})."""

    code = "merge"


class PlanningError(CocliError):
    """The territory cannot be planned: {reason}"""

    code = "planning"
    exit_code = ExitCode.DATA


class UnknownPlace(PlanningError):
    """The gazetteer has no place "{place}". {similar}"""

    code = "unknown_place"
    exit_code = ExitCode.USAGE
    remedy = 'Give its coordinates: --location "{place},LATITUDE,LONGITUDE"'


class AmbiguousPlace(PlanningError):
    """There are several places "{place}": {candidates}"""

    code = "ambiguous_place"
    exit_code = ExitCode.USAGE
    remedy = 'Say which one, as it is listed: --location "{example}"'


class AreaRefused(PlanningError):
    """{file}, {part}: {reason}"""

    code = "area_refused"


class StoreError(CocliError):
    """The store failed on {key}: {reason}"""

    code = "store"


class NotFound(StoreError):
    """There is no {key}."""

    code = "not_found"
    exit_code = ExitCode.NOT_FOUND


class AlreadyExists(StoreError):
    """Object {key} exists already."""

    code = "already_exists"
    exit_code = ExitCode.CONFLICT


class Conflict(StoreError):
    """Object {key} was changed by somebody else."""

    code = "conflict"
    exit_code = ExitCode.CONFLICT
    remedy = "Read it again, then repeat the change."


class Unavailable(StoreError):
    """The store at {address} cannot be reached: {reason}"""

    code = "unavailable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Check the address and the network with: cocli doctor"


class StoreFull(StoreError):
    """The store at {address} has no space left: {reason}"""

    code = "store_full"
    exit_code = ExitCode.UNAVAILABLE
    remedy = "Free some space; nothing was half-written."


class Denied(StoreError):
    """The store at {address} refused access to {key} (credentials: {credentials}): {reason}"""

    code = "denied"
    exit_code = ExitCode.DENIED
    remedy = "Check the credentials and the permissions with: cocli doctor"


class BucketMissing(StoreError):
    """There is no bucket {bucket} at {address}."""

    code = "bucket_missing"
    exit_code = ExitCode.NOT_FOUND
    remedy = "Create the bucket {bucket}, or correct [storage] in the campaign's config.toml."


class ForeignServer(StoreError):
    """What answers at {address} is no S3 server: {reason}"""

    code = "foreign_server"
    exit_code = ExitCode.UNAVAILABLE
    remedy = "Check the endpoint. A log-in page of the network you are in may answer for every address."


class InvalidKey(StoreError):
    """The key {key} is not valid: part "{part}" {reason}"""

    code = "invalid_key"
    exit_code = ExitCode.DATA
    remedy = (
        "A part of a key has letters, digits and ._~@+=,- only; whatever else is written %XX (cocli.keys.paths does)."
    )


class UnsafeStore(StoreError):
    """The store at {address} does not honour conditional writes: {reason}"""

    code = "unsafe_store"
    exit_code = ExitCode.UNSAFE_STORE
    remedy = "Use a local folder, Amazon S3, or a server that passes: cocli doctor"


class QueueError(CocliError):
    """Queue {queue}: {reason}"""

    code = "queue"


class LeaseLost(QueueError):
    """Worker {worker} does not hold task {task_id} any more: {reason}"""

    code = "lease_lost"
    exit_code = ExitCode.CONFLICT


class QueueUnusable(QueueError):
    """Queue provider {provider} cannot be used: {reason}"""

    code = "queue_unusable"
    exit_code = ExitCode.CONFIG


class DocumentError(CocliError):
    """Document {doc}: {reason}"""

    code = "document"


class DocumentNotFound(DocumentError):
    """There is no document {doc} at {place}."""

    code = "document_not_found"
    exit_code = ExitCode.NOT_FOUND


class DocumentDeleted(DocumentError):
    """Document {doc} was deleted on {deleted_at}."""

    code = "document_deleted"
    exit_code = ExitCode.NOT_FOUND
    remedy = "Bring it back with: cocli documents restore {doc}"


class DocumentInvalid(DocumentError):
    """Document {doc} cannot be saved: {reason}"""

    code = "document_invalid"
    exit_code = ExitCode.DATA


class DocumentDamaged(DocumentError):
    """Document {doc} is damaged: {reason}"""

    code = "document_damaged"
    exit_code = ExitCode.DATA
    remedy = "See what else is, and set it aside, with: cocli documents fsck --repair"


class DocumentContested(DocumentError):
    """Document {doc} was changed by others {tries} times while it was being saved."""

    code = "document_contested"
    exit_code = ExitCode.CONFLICT
    remedy = "Save it again when they are done."


class CatalogError(CocliError):
    """The catalogue of documents at {address} cannot be used: {reason}"""

    code = "catalog"
    exit_code = ExitCode.DATA
    remedy = "It can be built anew from the store with: cocli documents fsck --rebuild"


class CatalogUnavailable(CatalogError):
    """The catalogue of documents at {address} cannot be reached: {reason}"""

    code = "catalog_unavailable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Check its address, and that the database runs."


class BrokerUnavailable(QueueError):
    """The broker did not serve {queue}: {reason}"""

    code = "broker_unavailable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Check that the broker runs and that its address is right; nothing was lost."


class GraphError(CocliError):
    """Graph {graph}: {reason}"""

    code = "graph"


class GraphInvalid(GraphError):
    """Graph {graph} is not activated: {faults}"""

    code = "graph_invalid"
    exit_code = ExitCode.CONFIG
    remedy = "Correct the definition of the graph; nothing was run."


class UnknownNode(GraphError):
    """Graph {graph} has no node "{node}". Its nodes: {known}."""

    code = "unknown_node"
    exit_code = ExitCode.NOT_FOUND


class ConditionFailed(GraphError):
    """The condition on {path} cannot be answered: {reason}"""

    code = "condition_failed"
    exit_code = ExitCode.DATA
    remedy = "Ask with exists before the comparison, or mend the node that makes the value."


class HopLimitReached(GraphError):
    """The document went through {hops} nodes, the most that is allowed."""

    code = "hop_limit"
    exit_code = ExitCode.DATA


class NodeFailed(GraphError):
    """Node {node} failed: {reason}"""

    code = "node_failed"


class NodeInterrupted(NodeFailed):
    """Node {node} was interrupted: {reason}"""

    code = "node_interrupted"
    retryable = True


class IndexProblem(CocliError):
    """Index {index}: {reason}"""

    code = "index"


class IndexDamaged(IndexProblem):
    """Index {index} is damaged: {reason}"""

    code = "index_damaged"
    exit_code = ExitCode.DATA
    remedy = "Look with: cocli index verify {index}; mend with: cocli index repair {index}"


class LossesNotAccepted(IndexProblem):
    """Index {index} goes on without {rows} rows that are lost. Nothing is collected until that is accepted"""

    code = "losses_not_accepted"
    exit_code = ExitCode.DATA
    remedy = "Look with: cocli index verify {index}; if they are lost: cocli index gc {index} --accept-losses"


class UnknownIndex(IndexProblem):
    """There is no kind of index called "{index}". Known: {known}."""

    code = "unknown_index"
    exit_code = ExitCode.NOT_FOUND


class UnknownVersion(IndexProblem):
    """Index {index} has no version {version} any more, or not yet. Kept: {kept}."""

    code = "unknown_version"
    exit_code = ExitCode.NOT_FOUND
    remedy = "List them with: cocli index history {index}"


class QueryError(IndexProblem):
    """The query cannot be run: {reason}"""

    code = "query"
    exit_code = ExitCode.USAGE
    remedy = 'See the views with: cocli index query "show tables", their columns with: "describe prospects"'


class ServiceError(CocliError):
    """The service failed: {reason}"""

    code = "service"


class TokenRefused(ServiceError):
    """The token is refused: {reason}."""

    code = "token_refused"
    exit_code = ExitCode.DENIED
    remedy = "Make one on the machine that serves, with: cocli documents token"


class TooLarge(ServiceError):
    """{what} has {size} bytes; the service allows {limit}."""

    code = "too_large"
    exit_code = ExitCode.DATA
    remedy = "Ask for less, or raise the limit in [documents] on the machine that serves."


class TooManyRequests(ServiceError):
    """This token has asked {limit} times within a minute; the next answer is in {wait} seconds."""

    code = "too_many_requests"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Wait, or raise the limit on the machine that serves, with: cocli enrichment serve --per-minute N"


class ServiceUnavailable(ServiceError):
    """The service at {address} cannot be reached: {reason}"""

    code = "service_unavailable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Check its address, and that it runs; start it with: cocli documents serve"


class JobError(CocliError):
    """Job {job}: {reason}"""

    code = "job"
    exit_code = ExitCode.USAGE


class UnknownJob(JobError):
    """There is no job {job}."""

    code = "unknown_job"
    exit_code = ExitCode.NOT_FOUND
    remedy = "See which there are with: cocli documents jobs"


class JobBusy(JobError):
    """Job {job} is run by {holder}, until {until} at least."""

    code = "job_busy"
    exit_code = ExitCode.CONFLICT
    remedy = "Wait for it. If that runner is dead, the job can be taken over then."


class CrewLost(JobError):
    """Job {job} stopped: {reason}"""

    code = "crew_lost"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Run the job again: it goes on where it stopped."


class SyncError(CocliError):
    """Sync of {key}: {reason}"""

    code = "sync"


class SyncBusy(SyncError):
    """Another sync of {local} and {remote} is running."""

    code = "sync_busy"
    exit_code = ExitCode.CONFLICT
    remedy = "Wait until it has ended."


class TooManyDeletions(SyncError):
    """{deletions} of {known} files would be deleted {where}: that is more than {limit} %."""

    code = "too_many_deletions"
    exit_code = ExitCode.CONFLICT
    remedy = "Look with --dry-run; if it is meant, repeat it with --yes."


class SideEmptied(SyncError):
    """The {where} is empty now, and {known} files were there at the last sync. Nothing is deleted because of that"""

    code = "side_emptied"
    exit_code = ExitCode.CONFLICT
    remedy = "Fill it again with --restore. If it is meant to be empty, delete the files on the other side yourself."


class ChangedWhileRead(SyncError):
    """{key} was changed while it was being read."""

    code = "changed_while_read"
    exit_code = ExitCode.CONFLICT
    remedy = "The next sync takes it."


class ChangedMeanwhile(SyncError):
    """{key} was changed by somebody else in the meantime."""

    code = "changed_meanwhile"
    exit_code = ExitCode.CONFLICT
    remedy = "The next sync looks at it again."


class SourceError(CocliError):
    """Source {source}: {reason}"""

    code = "source"


class SourceMissing(SourceError):
    """No file of {source} is loaded here."""

    code = "source_missing"
    exit_code = ExitCode.NOT_FOUND
    remedy = "Load one with: cocli source fetch overture -c CAMPAIGN, or bring one with: cocli source add FILE"


class SourceRefused(SourceError):
    """{file} is refused: {reason}"""

    code = "source_refused"
    exit_code = ExitCode.DATA
    remedy = "See what is in it with: cocli source check {file}"


class UnusableRow(SourceError):
    """Row {row}: {reason}"""

    code = "unusable_row"
    exit_code = ExitCode.DATA


class SourceUnreachable(SourceError):
    """{source} cannot be loaded: {reason}"""

    code = "source_unreachable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Try again with a network, or bring a file and add it with: cocli source add FILE"


class PageUnread(SourceError):
    """{source}: the page of {what} could not be read: {reason}"""

    code = "page_unread"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True


class SourceResting(SourceError):
    """{source} rests until {until}: {reason}."""

    code = "source_resting"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Workers go on by themselves then. The pace is set in [google_maps] of the campaign's configuration."


class ParserAlarm(SourceError):
    """{source} is not read any further: {reason}"""

    code = "parser_alarm"
    exit_code = ExitCode.DATA
    remedy = "Look at a page that was saved lately. To go on as it is: cocli store rm {key}"


class WorkerError(CocliError):
    """Worker of {queue}: {reason}"""

    code = "worker"


class WorkerGaveUp(WorkerError):
    """The worker of {queue} gave up after {times} failures in a row: {reason}"""

    code = "worker_gave_up"
    exit_code = ExitCode.UNAVAILABLE
    remedy = "See what is wrong with this machine with: cocli doctor. Its tasks were given back."


class SupervisorRunning(WorkerError):
    """Host {hostname} has a supervisor already: {reason}"""

    code = "supervisor_running"
    exit_code = ExitCode.CONFLICT
    remedy = "Stop the other one, or give this one a name of its own: cocli supervisor --host NAME"


class NetworkDown(CocliError):
    """This machine finds no host: {times} names in a row could not be looked up; the last was {host}: {reason}"""

    code = "network_down"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Is it connected, and does its name server answer? What was being read is tried again."


class FileUnusable(CocliError):
    """{file} cannot be {done}: {reason}"""

    code = "file_unusable"
    remedy = "Free some space, or name another place; nothing that was there before is lost."


class MissingExtra(CocliError):
    """{feature} needs the optional package {package}, which is not installed."""

    code = "missing_extra"
    exit_code = ExitCode.MISSING_EXTRA
    remedy = "Install it with: pip install 'cocli[{extra}]'"
