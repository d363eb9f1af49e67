"""Every error that cocli raises on purpose.

    CocliError
    ├── UsageError                  the command, option or argument is not valid
    ├── ConfigError                 a configuration file or setting is wrong
    │   ├── ConfigSyntaxError       the file is not TOML
    │   ├── ConfigValueError        a key is unknown or its value does not fit
    │   └── StoreUrlError           the store's address cannot be understood
    ├── CampaignError
    │   ├── UnknownCampaign
    │   ├── CampaignExists
    │   ├── CampaignSplit           data here, and an address elsewhere
    │   └── NothingToWorkOn         neither businesses nor a territory
    ├── DataError                   data does not have the shape it must have
    │   ├── FormatError             a file is not in its format
    │   ├── RecordError             a record does not fit its model
    │   ├── IdentityError           a text is not the identity it claims to be
    │   └── MergeError              two records are not about the same thing
    ├── PlanningError               the territory of a campaign cannot be planned
    │   ├── UnknownPlace            the gazetteer has no such name
    │   ├── AmbiguousPlace          the gazetteer has several places of that name
    │   └── AreaRefused             a file of places or polygons is not usable
    ├── StoreError                  every store backend raises these errors, and no others
    │   ├── NotFound
    │   ├── AlreadyExists           create-if-absent found the key taken
    │   ├── Conflict                compare-and-swap: the etag moved
    │   ├── Unavailable             retryable: it is not known whether the request took effect
    │   ├── StoreFull               no space or quota left; nothing was written
    │   ├── Denied
    │   ├── ClockSkew               refused, because this machine's clock is wrong
    │   ├── BucketMissing
    │   ├── ForeignServer           the server at that address is not a store
    │   ├── InvalidKey
    │   └── UnsafeStore             the store does not honour conditional writes
    ├── QueueError
    │   ├── LeaseLost               somebody else has the task now
    │   ├── QueueUnusable           the provider that is configured lacks something
    │   ├── BrokerUnavailable       retryable: Kafka did not answer, or did not take a message
    │   └── OutboxFull              retryable: too many events of an account wait to be sent
    ├── IndexProblem
    │   ├── IndexDamaged            a file of the index is missing or does not match its name
    │   ├── LossesNotAccepted       rows are lost, and nobody has accepted the loss yet
    │   ├── UnknownIndex
    │   ├── UnknownVersion          the index does not keep this version
    │   └── QueryError              the SQL is wrong, or asks for more than the indexes
    ├── DocumentError
    │   ├── DocumentNotFound        also raised for a document of another account
    │   ├── DocumentDeleted         the document was deleted; its tombstone is there
    │   ├── DocumentInvalid         the document does not have the form it must have
    │   ├── DocumentDamaged         an object does not match its name or its header
    │   ├── PreconditionFailed      another version is there than the caller expects
    │   └── DocumentContested       others kept changing it while it was being saved
    ├── CatalogError                the table of documents
    │   └── CatalogUnavailable      retryable
    ├── GraphError
    │   ├── GraphInvalid            the graph has faults and is not started
    │   ├── UnknownNode
    │   ├── ConditionFailed         the condition of an edge cannot be evaluated for a document
    │   ├── HopLimitReached         a document went through more nodes than allowed
    │   └── NodeFailed              the function of a node raised, or returned a wrong value
    │       └── NodeInterrupted     retryable: it timed out or lost a connection
    ├── DeploymentError             a host is not deployed to
    │   ├── HostUnreachable         retryable: no such name, nobody listens, no answer
    │   ├── HostRefused             the host's key is not the known one, or ours is not accepted
    │   ├── HostUnfit               its Python, processor, clock or disk
    │   ├── HostLost                retryable: the connection ended in the middle
    │   └── ReleaseRefused          the release does not load, or its supervisor did not report
    ├── JobError                    a replay cannot run with these options
    │   ├── UnknownJob              also raised for a job of another account
    │   ├── JobBusy                 another process runs the job
    │   └── CrewLost                retryable: a process or a machine of the job has died
    ├── ServiceError                one of cocli's services refused or failed
    │   ├── TokenRefused            the token is wrong or has expired
    │   ├── LoginRequired           nobody is logged in
    │   ├── Forbidden               the role of whoever asks is not enough
    │   ├── EtagRequired            a change that does not say what it changes
    │   ├── TooLarge                a request or an answer is larger than the service allows
    │   ├── TooSlow                 retryable: a request did not arrive in time
    │   ├── TooManyRequests         retryable: a token sent more requests than it may
    │   ├── ScopeMissing            the token does not allow this
    │   ├── Withheld                a document names somebody who asked to be left alone
    │   ├── QuotaExceeded           retryable: an account has used up what it may use
    │   ├── UnknownUpload           it never was, has expired, or has ended
    │   ├── UploadOffset            the bytes do not begin where the upload stands
    │   ├── ServiceTroubled         retryable: what the service needs is away, and comes back
    │   └── ServiceUnavailable      retryable: it did not answer, or not in time
    ├── SourceError                 files of open places, and pages of Google Maps
    │   ├── SourceMissing           no file of the source is loaded
    │   ├── SourceRefused           a file is not what it must be
    │   ├── UnusableRow             a row of a file cannot become a place
    │   ├── SourceUnreachable       retryable: there is no network, or no extension for it
    │   ├── PageUnread              retryable: a page did not load, or the browser failed
    │   ├── SourceResting           retryable: the source is not asked again before a time
    │   └── ParserAlarm             a parser no longer finds what it used to find
    ├── SyncError                   a folder and a bucket cannot be synced
    │   ├── SyncStateFull           there is no room for the state
    │   ├── SyncBusy                another sync of the same two is running
    │   ├── TooManyDeletions        the run would delete suspiciously many files
    │   ├── SideEmptied             one side is empty: the other side is not emptied for that
    │   ├── ChangedWhileRead        a file changed while it was read: the next run transfers it
    │   └── ChangedMeanwhile        somebody else changed it first: the next run compares again
    ├── BackupError                 a backup cannot be made, read or restored
    │   ├── NoBackup                there is none at that address
    │   ├── UnknownSnapshot         the backup has no such snapshot
    │   ├── BackupMisplaced         a backup cannot lie there
    │   ├── BackupDamaged           objects of the backup are missing or damaged
    │   ├── BackupContested         retryable: others kept changing the backup
    │   └── RestoreRefused          a restore would replace other data
    ├── WorkerError                 a worker or a supervisor had to stop
    │   ├── WorkerGaveUp            many failures in a row that no task caused
    │   ├── SupervisorRunning       this host has a supervisor already
    │   ├── HostEvicted             this host was evicted: it does no more work
    │   ├── ScheduleRefused         this machine does not take a timer or a line of cron
    │   └── UnknownHost             no host of this name ever reported or worked
    ├── InfraError                  the infrastructure of a campaign cannot be made or used
    │   ├── NameRefused             AWS would not take a name
    │   ├── CloudRefused            no credentials, or they may not do it
    │   ├── CloudUnavailable        retryable: AWS did not answer
    │   ├── StackConflict           a stack or a bucket of that name exists, and is not ours or is busy
    │   ├── DeploymentFailed        AWS could not make something; what was begun was undone
    │   └── UnknownStack            nothing was deployed for the campaign
    ├── NetworkDown                 retryable: this machine cannot look up host names
    ├── FileUnusable                a file of this machine, or the output, cannot be read or written
    │   └── DiskFull                there is no room for it
    ├── TooCostly                   a page or a file takes more time or memory to read than it may
    ├── PageReaderLost              the process that reads pages could not be started, or ended
    └── MissingExtra                an optional dependency is not installed

A class owns its text: the docstring is the message, with the details that the raiser passes in
filled in. `remedy` is the hint, filled in the same way. Whether a retry can help is a property of
the type (`retryable`). The same error is rendered as text, JSON, a web envelope or a gRPC status.
"""

from __future__ import annotations

import errno
import inspect
import os
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


class CampaignSplit(CampaignError):
    """Campaign "{campaign}" would be in two places: it has data at {here}, and its file says that it is at {there}."""

    code = "campaign_split"
    exit_code = ExitCode.CONFLICT
    remedy = (
        "Bring it there with: cocli sync push -c {campaign} (tasks that wait do not travel: plan them again there with "
        "cocli campaign plan {campaign} --queue). To go on here instead, take url out of [storage] in its file."
    )


class NothingToWorkOn(CampaignError):
    """Campaign "{campaign}" has neither businesses nor a territory (phrases and places)."""

    code = "nothing_to_work_on"
    exit_code = ExitCode.USAGE
    remedy = (
        "Bring a list with: cocli import FILE -c {campaign}; or say what to find, and where: "
        'cocli campaign edit {campaign} --set prospecting.queries+=plumber --location "Springfield, IL"'
    )


class DataError(CocliError):
    """The data is not valid: {reason}"""

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
    remedy = 'Name one of them as it is listed: --location "{example}"'


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
    """Somebody else has changed object {key}."""

    code = "conflict"
    exit_code = ExitCode.CONFLICT
    remedy = "Read the object again, then repeat the change."


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
    remedy = "Free some space, then repeat the command. No file was left half-written."


class Denied(StoreError):
    """The store at {address} refused access to {key} (credentials: {credentials}): {reason}"""

    code = "denied"
    exit_code = ExitCode.DENIED
    remedy = "Check the credentials and the permissions with: cocli doctor"


class ClockSkew(StoreError):
    """This machine's clock is {difference} the clock of {address}, which therefore refuses every request."""

    code = "clock_skew"
    exit_code = ExitCode.DENIED
    remedy = "Set this machine's clock, for example: timedatectl set-ntp true. The credentials may be good."


class BucketMissing(StoreError):
    """There is no bucket {bucket} at {address}."""

    code = "bucket_missing"
    exit_code = ExitCode.NOT_FOUND
    remedy = "Create the bucket {bucket}, or correct [storage] in the campaign's config.toml."


class ForeignServer(StoreError):
    """The server at {address} is not an S3 server: {reason}"""

    code = "foreign_server"
    exit_code = ExitCode.UNAVAILABLE
    remedy = "Check the endpoint. If your network has a log-in page, that page may have answered instead of the store."


class InvalidKey(StoreError):
    """The key {key} is not valid: part "{part}" {reason}"""

    code = "invalid_key"
    exit_code = ExitCode.DATA
    remedy = "A part of a key has letters, digits and ._~@+=,- only. Write every other character as %XX."


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
    remedy = "Find all damaged documents and set them aside with: cocli documents fsck --repair"


class PreconditionFailed(DocumentError):
    """Document {doc} is at {there}, not at {wanted}."""

    code = "precondition_failed"
    exit_code = ExitCode.CONFLICT
    remedy = "Read it again, and decide anew with the etag that it has now."


class DocumentContested(DocumentError):
    """Others changed document {doc} {tries} times while it was being saved."""

    code = "document_contested"
    exit_code = ExitCode.CONFLICT
    remedy = "Wait until the others have finished, then save it again."


class CatalogError(CocliError):
    """The catalogue of documents at {address} cannot be used: {reason}"""

    code = "catalog"
    exit_code = ExitCode.DATA
    remedy = "Rebuild the catalogue from the store with: cocli documents fsck --rebuild"


class CatalogUnavailable(CatalogError):
    """The catalogue of documents at {address} cannot be reached: {reason}"""

    code = "catalog_unavailable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Check the address of the catalogue, and that its database runs."


class BrokerUnavailable(QueueError):
    """The message broker of {queue} failed: {reason}"""

    code = "broker_unavailable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Check that the broker runs, and that its address, certificate and password are right. Nothing was lost."


class OutboxFull(QueueError):
    """{count} events of the account {account} wait to be sent, and {limit} may."""

    code = "outbox_full"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "See what cannot be sent, and why, with: cocli documents events. Nothing was written: save it again later."


class GraphError(CocliError):
    """Graph {graph}: {reason}"""

    code = "graph"


class GraphInvalid(GraphError):
    """Graph {graph} has faults and was not started: {faults}"""

    code = "graph_invalid"
    exit_code = ExitCode.CONFIG
    remedy = "Correct the definition of the graph. No document was changed."


class UnknownNode(GraphError):
    """Graph {graph} has no node "{node}". Its nodes: {known}."""

    code = "unknown_node"
    exit_code = ExitCode.NOT_FOUND


class ConditionFailed(GraphError):
    """The condition on {path} cannot be evaluated: {reason}"""

    code = "condition_failed"
    exit_code = ExitCode.DATA
    remedy = "Test the path with `exists` before you compare it, or correct the node that writes the value."


class HopLimitReached(GraphError):
    """The document passed {hops} nodes, and no more are allowed."""

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
    remedy = "See the damage with: cocli index check {index}. Repair it with: cocli index check {index} --fix"


class LossesNotAccepted(IndexProblem):
    """Index {index} has lost {rows} rows. Nothing is deleted as garbage until you accept the loss."""

    code = "losses_not_accepted"
    exit_code = ExitCode.DATA
    remedy = "Check it with: cocli index check {index}. Accept the loss with: cocli index gc {index} --accept-losses"


class UnknownIndex(IndexProblem):
    """There is no kind of index called "{index}". Known: {known}."""

    code = "unknown_index"
    exit_code = ExitCode.NOT_FOUND


class UnknownVersion(IndexProblem):
    """Index {index} does not keep a version {version}. Kept versions: {kept}."""

    code = "unknown_version"
    exit_code = ExitCode.NOT_FOUND
    remedy = "List the versions with: cocli index history {index}"


class QueryError(IndexProblem):
    """The query cannot be run: {reason}"""

    code = "query"
    exit_code = ExitCode.USAGE
    remedy = 'List the views with: cocli index query "show tables"; list columns with: … query "describe prospects"'


class ServiceError(CocliError):
    """The service failed: {reason}"""

    code = "service"


class TokenRefused(ServiceError):
    """The token is refused: {reason}."""

    code = "token_refused"
    exit_code = ExitCode.DENIED
    remedy = "Make a new token on the machine that runs the service: cocli documents token"


class LoginRequired(ServiceError):
    """Nobody is logged in."""

    code = "login_required"
    exit_code = ExitCode.DENIED
    remedy = "Open the link that cocli web printed, or log in again."


class Forbidden(ServiceError):
    """{who} may not do this: {reason}."""

    code = "forbidden"
    exit_code = ExitCode.DENIED
    remedy = "Ask an admin of the campaign; [auth] of its file says who may do what."


class EtagRequired(ServiceError):
    """The request does not say which version it changes."""

    code = "etag_required"
    exit_code = ExitCode.USAGE
    remedy = "Send If-Match with the etag that was read."


class TooLarge(ServiceError):
    """{what} has {size} bytes; the service allows {limit}."""

    code = "too_large"
    exit_code = ExitCode.DATA
    remedy = "Ask for less, or raise the limit in [documents] on the machine that runs the service."


class TooSlow(ServiceError):
    """{what} did not arrive in time: {size} bytes in {seconds} seconds."""

    code = "too_slow"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Send it again, over a faster connection."


class TooManyRequests(ServiceError):
    """This token has sent {limit} requests within a minute. The service answers it again in {wait} seconds."""

    code = "too_many_requests"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Wait, or raise the limit on the machine that runs the service: cocli enrichment serve --per-minute N"


class ScopeMissing(ServiceError):
    """The token does not allow this: it lacks the scope {scope}."""

    code = "scope_missing"
    exit_code = ExitCode.DENIED
    remedy = "Make one that does on the machine that runs the service: cocli documents token --scope {scope}"


class Withheld(ServiceError):
    """The document names somebody who asked to be left alone: only who has the scope {scope} gets it."""

    code = "withheld"
    exit_code = ExitCode.DENIED
    remedy = "Who may see everything makes a token for it: cocli documents token --scope read,{scope}"


class QuotaExceeded(ServiceError):
    """This account may have {limit} {what}. The service answers it again in {wait} seconds."""

    code = "quota_exceeded"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Wait, ask for less at a time, or have the account's limits in [documents] raised."


class UnknownUpload(ServiceError):
    """There is no upload {upload}: it has ended, has expired, or never was."""

    code = "unknown_upload"
    exit_code = ExitCode.NOT_FOUND
    remedy = "Begin a new upload."


class UploadOffset(ServiceError):
    """The upload {upload} stands at {offset} bytes, not at {given}."""

    code = "upload_offset"
    exit_code = ExitCode.CONFLICT
    remedy = "Go on from where it stands."


class ServiceTroubled(ServiceError):
    """The service cannot do it now: {reason}"""

    code = "service_troubled"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Try again in a moment."


class ServiceUnavailable(ServiceError):
    """The service at {address} cannot be reached: {reason}"""

    code = "service_unavailable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Check the address, and that the service runs. Start it with: cocli documents serve"


class JobError(CocliError):
    """Job {job}: {reason}"""

    code = "job"
    exit_code = ExitCode.USAGE


class UnknownJob(JobError):
    """There is no job {job}."""

    code = "unknown_job"
    exit_code = ExitCode.NOT_FOUND
    remedy = "List the jobs with: cocli documents jobs"


class JobBusy(JobError):
    """{holder} is running job {job} and holds it until {until} at least."""

    code = "job_busy"
    exit_code = ExitCode.CONFLICT
    remedy = "Wait until it ends. If its process has died, run the job again after that time."


class CrewLost(JobError):
    """Job {job} stopped: {reason}"""

    code = "crew_lost"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Run the job again. It continues where it stopped."


class SyncError(CocliError):
    """Sync of {key}: {reason}"""

    code = "sync"


class SyncStateFull(SyncError):
    """Sync of {key}: {reason}"""

    code = "sync_state_full"
    exit_code = ExitCode.UNAVAILABLE


class SyncBusy(SyncError):
    """Another sync of {local} and {remote} is running."""

    code = "sync_busy"
    exit_code = ExitCode.CONFLICT
    remedy = "Wait until it has ended."


class TooManyDeletions(SyncError):
    """{deletions} of {known} files would be deleted {where}: that is more than {limit} %."""

    code = "too_many_deletions"
    exit_code = ExitCode.CONFLICT
    remedy = "See the files with --dry-run. To delete them, repeat the command with --yes."


class SideEmptied(SyncError):
    """The {where} is empty now, but had {known} files at the last sync. Nothing was deleted on the other side."""

    code = "side_emptied"
    exit_code = ExitCode.CONFLICT
    remedy = "Fill it again with --restore. If you want it to be empty, delete the files on the other side yourself."


class ChangedWhileRead(SyncError):
    """{key} was changed while it was being read."""

    code = "changed_while_read"
    exit_code = ExitCode.CONFLICT
    remedy = "The next sync will transfer it."


class ChangedMeanwhile(SyncError):
    """{key} was changed by somebody else in the meantime."""

    code = "changed_meanwhile"
    exit_code = ExitCode.CONFLICT
    remedy = "The next sync will compare it again."


class BackupError(CocliError):
    """Backup {backup}: {reason}"""

    code = "backup"


class NoBackup(BackupError):
    """There is no backup at {backup}."""

    code = "no_backup"
    exit_code = ExitCode.NOT_FOUND
    remedy = "Make the first snapshot with: cocli backup create --backup {backup}"


class UnknownSnapshot(BackupError):
    """The backup has no snapshot "{snapshot}"."""

    code = "unknown_snapshot"
    exit_code = ExitCode.NOT_FOUND
    remedy = "List the snapshots with: cocli backup ls --backup {backup}"


class BackupMisplaced(BackupError):
    """A backup cannot lie at {backup}: {reason}"""

    code = "backup_misplaced"
    exit_code = ExitCode.CONFLICT
    remedy = "Name an empty folder or an empty prefix of a bucket, outside of the store that is backed up."


class BackupDamaged(BackupError):
    """{count} objects of the backup are missing or damaged; the first is {object}: {reason}"""

    code = "backup_damaged"
    exit_code = ExitCode.DATA
    remedy = "List all of them, and the keys that they affect, with: cocli backup verify --backup {backup}"


class BackupContested(BackupError):
    """Others kept changing the backup at {backup} while a snapshot was made."""

    code = "backup_contested"
    exit_code = ExitCode.CONFLICT
    retryable = True
    remedy = "Repeat the command when the others have ended: what was sent already is not sent again."


class RestoreRefused(BackupError):
    """{count} objects at {target} have other content than the snapshot, such as {key}. {written}"""

    code = "restore_refused"
    exit_code = ExitCode.CONFLICT
    remedy = "Restore to an empty place, or replace them with --overwrite. See what would be done with --dry-run."


class SourceError(CocliError):
    """Source {source}: {reason}"""

    code = "source"


class SourceMissing(SourceError):
    """No file of {source} is loaded here."""

    code = "source_missing"
    exit_code = ExitCode.NOT_FOUND
    remedy = "Load one with: cocli source fetch overture -c CAMPAIGN, or add your own with: cocli source add FILE"


class SourceRefused(SourceError):
    """{file} is refused: {reason}"""

    code = "source_refused"
    exit_code = ExitCode.DATA
    remedy = (
        "Files of places are Parquet, GeoJSON, Overpass JSON or JSON lines. A list of your own "
        "(CSV, spreadsheet, KML, vCard) goes into a campaign with: cocli import {file} -c CAMPAIGN"
    )


class UnusableRow(SourceError):
    """Row {row}: {reason}"""

    code = "unusable_row"
    exit_code = ExitCode.DATA


class SourceUnreachable(SourceError):
    """{source} cannot be loaded: {reason}"""

    code = "source_unreachable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Try again when the network works, or add a file that you have with: cocli source add FILE"


class PageUnread(SourceError):
    """{source}: the page of {what} could not be read: {reason}"""

    code = "page_unread"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True


class SourceResting(SourceError):
    """{source} is not asked again before {until}: {reason}."""

    code = "source_resting"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Workers continue by themselves then. You set the pace in [google_maps] of the campaign's configuration."


class ParserAlarm(SourceError):
    """Reading {source} was stopped: {reason}"""

    code = "parser_alarm"
    exit_code = ExitCode.DATA
    remedy = "Look at a page that was saved recently. To clear the alarm and read on: cocli store rm {key}"


class WorkerError(CocliError):
    """Worker of {queue}: {reason}"""

    code = "worker"


class WorkerGaveUp(WorkerError):
    """The worker of {queue} gave up after {times} failures in a row: {reason}"""

    code = "worker_gave_up"
    exit_code = ExitCode.UNAVAILABLE
    remedy = "Check this machine with: cocli doctor. The worker's tasks went back to the queue."


class SupervisorRunning(WorkerError):
    """Host {hostname} has a supervisor already: {reason}"""

    code = "supervisor_running"
    exit_code = ExitCode.CONFLICT
    remedy = "Stop the other supervisor, or give this one another name: cocli supervisor --host NAME"


class HostEvicted(WorkerError):
    """Host {hostname} was evicted on {evicted_at} by {evicted_by}{because}: nothing that it does counts any more."""

    code = "host_evicted"
    exit_code = ExitCode.EVICTED
    remedy = "If it may work again, run on another machine: cocli cluster admit {hostname}"


class ScheduleRefused(WorkerError):
    """This machine does not take the schedule: {command}: {reason}"""

    code = "schedule_refused"
    remedy = "Print it with --print, and install it by hand; --cron writes a line of cron instead."


class UnknownHost(WorkerError):
    """No host "{hostname}" ever reported or worked. Known hosts: {known}."""

    code = "unknown_host"
    exit_code = ExitCode.NOT_FOUND


class DeploymentError(CocliError):
    """{host}: {reason}"""

    code = "deployment"


class HostUnreachable(DeploymentError):
    """{host} cannot be reached by ssh: {reason}"""

    code = "host_unreachable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Try it by hand: ssh {host} true. Names, users and ports are read from ~/.ssh/config."


class HostRefused(DeploymentError):
    """{host} was not let in, or did not let us in: {reason}"""

    code = "host_refused"
    exit_code = ExitCode.DENIED


class HostUnfit(DeploymentError):
    """{host} cannot run cocli: {reason}"""

    code = "host_unfit"
    exit_code = ExitCode.CONFIG


class HostLost(DeploymentError):
    """The connection to {host} ended in the middle: {reason}"""

    code = "host_lost"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "What ran there goes on as it was, or starts again with the host. Deploy again when it answers."


class ReleaseRefused(DeploymentError):
    """{host} does not run the new release: {reason}"""

    code = "release_refused"
    remedy = "See: cocli deploy logs {host}"


class NetworkDown(CocliError):
    """This machine cannot look up host names: {times} in a row failed, the last one was {host}: {reason}"""

    code = "network_down"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Check the network and the name server. The websites that failed are tried again."


class FileUnusable(CocliError):
    """{file} cannot be {done}: {reason}"""

    code = "file_unusable"
    remedy = "Free some space, or name another file. Nothing that was there before is lost."


NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the system says where a disk is full, or a quota or a limit is reached."""


def no_room_in(text: str) -> str | None:
    """The system's words for a full disk, where a library hands on the words and not the number."""
    return next((words for words in map(os.strerror, sorted(NO_ROOM)) if words in text), None)


class DiskFull(FileUnusable):
    """{file} cannot be {done}: {reason}"""

    code = "disk_full"
    exit_code = ExitCode.UNAVAILABLE


def disk_full(error: OSError, file: str) -> DiskFull | None:
    """The error of a full disk, where that is why a file cannot be written; else None."""
    if error.errno not in NO_ROOM:
        return None
    return DiskFull(file=file, done="written", reason=error.strerror)


class TooCostly(CocliError):
    """{what} takes too much to read: {reason}"""

    code = "too_costly"
    exit_code = ExitCode.DATA
    remedy = "It may be damaged, or made to do harm. Read a part of it, or leave it out."


class PageReaderLost(CocliError):
    """The process that reads pages is lost: {reason}"""

    code = "page_reader_lost"
    retryable = True
    remedy = "Free some memory, and try again. If it stays so: cocli doctor"


class InfraError(CocliError):
    """The infrastructure cannot be used: {reason}"""

    code = "infra"


class NameRefused(InfraError):
    """AWS would not take the name {name}: it {reason}."""

    code = "name_refused"
    exit_code = ExitCode.USAGE
    remedy = "Make a campaign with another name; nothing was deployed."


class CloudRefused(InfraError):
    """AWS refused {action} (credentials: {credentials}): {reason}"""

    code = "cloud_refused"
    exit_code = ExitCode.DENIED
    remedy = (
        "Log in as an administrator of the account, for example: aws sso login, then AWS_PROFILE=… cocli infra deploy"
    )


class CloudUnavailable(InfraError):
    """AWS cannot be reached at {address}: {reason}"""

    code = "cloud_unavailable"
    exit_code = ExitCode.UNAVAILABLE
    retryable = True
    remedy = "Check the network, and region and endpoint under [aws]."


class StackConflict(InfraError):
    """{name} cannot be deployed: {reason}"""

    code = "stack_conflict"
    exit_code = ExitCode.CONFLICT


class DeploymentFailed(InfraError):
    """{name} was not deployed: {reason}"""

    code = "deployment_failed"
    exit_code = ExitCode.FAILURE
    remedy = "What was begun was undone. Mend the reason, then repeat the command."


class UnknownStack(InfraError):
    """Nothing is deployed for the campaign {campaign} ({name})."""

    code = "unknown_stack"
    exit_code = ExitCode.NOT_FOUND
    remedy = "Deploy it with: cocli infra deploy {campaign}"


class MissingExtra(CocliError):
    """{feature} needs the optional package {package}, which is not installed."""

    code = "missing_extra"
    exit_code = ExitCode.MISSING_EXTRA
    remedy = "Install it with: pip install 'cocli[{extra}]'"
