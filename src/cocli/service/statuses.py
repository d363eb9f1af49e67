"""Which error has which status, in gRPC and in HTTP; and what of it a caller is told.

What went wrong inside (the store, the catalogue, the configuration) is told by its code alone: addresses, keys and
credentials are nobody's business outside. The details are for whoever runs the service, in its log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli import errors
from cocli.formats.secrets import mask, mask_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STATUSES: Mapping[type[errors.CocliError], tuple[str, int]] = {
    errors.CocliError: ("INTERNAL", 500),
    errors.UsageError: ("INVALID_ARGUMENT", 400),
    errors.ConfigError: ("FAILED_PRECONDITION", 500),
    errors.CampaignError: ("NOT_FOUND", 404),
    errors.DataError: ("INVALID_ARGUMENT", 400),
    errors.PlanningError: ("INVALID_ARGUMENT", 400),
    errors.StoreError: ("INTERNAL", 500),
    errors.NotFound: ("NOT_FOUND", 404),
    errors.AlreadyExists: ("ALREADY_EXISTS", 409),
    errors.Conflict: ("ABORTED", 409),
    errors.Unavailable: ("UNAVAILABLE", 503),
    errors.StoreFull: ("RESOURCE_EXHAUSTED", 507),
    errors.Denied: ("FAILED_PRECONDITION", 500),
    errors.InvalidKey: ("INVALID_ARGUMENT", 400),
    errors.QueueError: ("INTERNAL", 500),
    errors.BrokerUnavailable: ("UNAVAILABLE", 503),
    errors.DocumentError: ("INTERNAL", 500),
    errors.DocumentNotFound: ("NOT_FOUND", 404),
    errors.DocumentDeleted: ("FAILED_PRECONDITION", 410),
    errors.DocumentInvalid: ("INVALID_ARGUMENT", 400),
    errors.DocumentDamaged: ("DATA_LOSS", 500),
    errors.PreconditionFailed: ("FAILED_PRECONDITION", 412),
    errors.DocumentContested: ("ABORTED", 409),
    errors.CatalogError: ("INTERNAL", 500),
    errors.CatalogUnavailable: ("UNAVAILABLE", 503),
    errors.GraphError: ("FAILED_PRECONDITION", 409),
    errors.UnknownNode: ("NOT_FOUND", 404),
    errors.NodeFailed: ("INTERNAL", 500),
    errors.NodeInterrupted: ("UNAVAILABLE", 503),
    errors.JobError: ("FAILED_PRECONDITION", 409),
    errors.UnknownJob: ("NOT_FOUND", 404),
    errors.JobBusy: ("ABORTED", 409),
    errors.CrewLost: ("UNAVAILABLE", 503),
    errors.TokenRefused: ("UNAUTHENTICATED", 401),
    errors.LoginRequired: ("UNAUTHENTICATED", 401),
    errors.Forbidden: ("PERMISSION_DENIED", 403),
    errors.EtagRequired: ("FAILED_PRECONDITION", 428),
    errors.TooLarge: ("RESOURCE_EXHAUSTED", 413),
    errors.TooSlow: ("DEADLINE_EXCEEDED", 408),
    errors.TooManyRequests: ("RESOURCE_EXHAUSTED", 429),
    errors.ScopeMissing: ("PERMISSION_DENIED", 403),
    errors.Withheld: ("PERMISSION_DENIED", 403),
    errors.QuotaExceeded: ("RESOURCE_EXHAUSTED", 429),
    errors.UnknownUpload: ("NOT_FOUND", 404),
    errors.UploadOffset: ("ABORTED", 409),
    errors.ServiceTroubled: ("UNAVAILABLE", 503),
    errors.ServiceUnavailable: ("UNAVAILABLE", 503),
    errors.MissingExtra: ("UNIMPLEMENTED", 501),
}
"""By type; a type that is not named has the status of the nearest one above it."""

_INSIDE = (errors.StoreError, errors.CatalogError, errors.ConfigError, errors.QueueError)
_LONGEST = 500
INTERNAL: dict[str, Any] = {
    "code": "internal",
    "message": "The service made a mistake; its log says which.",
    "hint": None,
    "retryable": False,
    "details": {},
}


def status_of(error: errors.CocliError) -> tuple[str, int]:
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def told(error: errors.CocliError) -> dict[str, Any]:
    """The envelope that a caller gets: as `--json` shows it, short enough for a header."""
    if isinstance(error, _INSIDE):
        message = "The service cannot do this; see its log."
        if error.retryable:
            message = "The service cannot do this now."
        return {"code": error.code, "message": message, "hint": None, "retryable": error.retryable, "details": {}}
    envelope = error.as_dict()
    details = envelope["details"] if isinstance(envelope["details"], dict) else {}
    short = {name: _short(value) for name, value in details.items()}
    return {
        **envelope,
        "message": _short(envelope["message"]),
        "hint": _short(envelope["hint"]),
        "details": short,
    }


def rebuilt(envelope: Mapping[str, Any]) -> errors.CocliError:
    """The error that a service told of, as one of ours."""
    code, details = str(envelope.get("code", "")), envelope.get("details")
    kind = {error.code: error for error in _kinds(errors.CocliError)}.get(code)
    hint = envelope.get("hint")
    if kind is None or not isinstance(details, dict) or not details:
        trouble = errors.ServiceTroubled if envelope.get("retryable") else errors.ServiceError
        return trouble(reason=str(envelope.get("message", "?")), hint=hint, code=code)
    return kind(hint=str(hint) if hint else None, **{str(name): value for name, value in details.items()})


def _short(value: object) -> object:
    value = mask_values(value)
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]}…"
    return value


def _kinds(kind: type[errors.CocliError]) -> Iterator[type[errors.CocliError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _kinds(child)


def logged(error: BaseException) -> str:
    """One line for the log of whoever runs the service."""
    text = error.message if isinstance(error, errors.CocliError) else str(error)
    return mask(f"{type(error).__name__}: {text}")
