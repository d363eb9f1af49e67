"""A file of the CRM in the person's own editor: on a copy, checked, never lost, and never over somebody else's edit."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cocli.cli.kit.confirm import confirm, interactive
from cocli.cli.kit.editor import open_editor
from cocli.cli.kit.errors import report_error
from cocli.errors import Conflict, FormatError, UsageError

if TYPE_CHECKING:
    from cocli.cli.kit.output import Output
    from cocli.store.base import Store, StoredObject


def edit_file(output: Output, environ: Mapping[str, str], store: Store, stored: StoredObject) -> bool:
    """Open a file in $VISUAL or $EDITOR; whether it was changed. Front matter that cannot be read is not saved."""
    from cocli.app.companies.companies import replace_file

    _need_terminal(output)
    draft = _draft(stored.data)
    while True:
        content = _edited(environ, draft)
        if content == stored.data:
            os.unlink(draft)
            return False
        try:
            replace_file(store, stored.key, content, stored.etag)
        except FormatError as error:
            report_error(output, error)
            if not confirm(output, "Edit it again?", yes=False):
                raise UsageError(reason="Nothing was changed", hint=f"Your text is kept in {draft}") from error
        except Conflict as error:
            raise UsageError(
                reason=f"{stored.key} was changed by somebody else meanwhile; their version stays",
                hint=f"Your text is kept in {draft}",
            ) from error
        else:
            os.unlink(draft)
            return True


def written_in_editor(output: Output, environ: Mapping[str, str], remedy: str) -> str:
    """A text that a person writes from nothing; without a terminal they have to say it otherwise."""
    _need_terminal(output, remedy)
    draft = _draft(b"")
    content = _edited(environ, draft)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise UsageError(reason="The text is not UTF-8", hint=f"It is kept in {draft}") from error
    os.unlink(draft)
    return text


def _need_terminal(output: Output, remedy: str | None = None) -> None:
    if not interactive(output):
        raise UsageError(
            reason="There is no terminal to edit on",
            hint=remedy or "Edit the file itself: cocli locate company SLUG prints where it is.",
        )


def _draft(data: bytes) -> str:
    descriptor, path = tempfile.mkstemp(prefix="cocli-", suffix=".md")
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return path


def _edited(environ: Mapping[str, str], draft: str) -> bytes:
    open_editor(environ, draft)
    with open(draft, "rb") as file:
        return file.read()
