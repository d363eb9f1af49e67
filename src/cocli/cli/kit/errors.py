"""An error as a person reads it, or as a script does: `{"error": {…}}` on stderr, in one line."""

from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING, Any

from cocli.errors import CocliError, FileUnusable, UsageError
from cocli.formats.safe_text import safe_line, safe_text
from cocli.formats.secrets import mask, mask_values

if TYPE_CHECKING:
    from cocli.cli.kit.output import Output

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
_CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR})
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

        output.stderr.write(safe_text("".join(traceback.format_exception(error))))
    message = safe_line(mask(f"{type(error).__name__}: {error}"))
    if output.as_json:
        envelope = {"code": "internal", "message": message, "hint": _REPORT, "retryable": False, "details": {}}
        _write_json(output, envelope)
    else:
        output.stderr.write(f"error: {message}\nhint: {_REPORT}\n")
    return int(CocliError.exit_code)


def from_system(error: Exception) -> CocliError | None:
    """What the operating system refuses, wherever it happens, as one of our errors; None for whatever else it is."""
    if not isinstance(error, OSError) or error.errno not in _FULL | _CLOSED:
        return None
    done = "written" if error.errno in _FULL else "used"
    return FileUnusable(file=error.filename or "The output", done=done, reason=error.strerror)


def from_parser(error: Any) -> UsageError:
    """What the argument parser complains about, as one of our errors."""
    message = error.format_message().strip()
    context = getattr(error, "ctx", None)
    hint = f"See: {context.command_path} --help" if context is not None else None
    return UsageError(reason=message, hint=hint)


def _write_json(output: Output, envelope: dict[str, object]) -> None:
    output.stderr.write(json.dumps({"error": envelope}, default=str) + "\n")
