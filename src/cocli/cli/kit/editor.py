"""A configuration file in the person's own editor: checked before it replaces the old one, and never lost."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from cocli.cli.kit.confirm import confirm, interactive
from cocli.cli.kit.errors import report_error
from cocli.errors import CocliError, ConfigError, UsageError

if TYPE_CHECKING:
    from cocli.app.campaigns.campaign import Edited
    from cocli.app.workspace import Workspace
    from cocli.cli.kit.output import Output


Saved = TypeVar("Saved")


def edit_interactively(output: Output, environ: Mapping[str, str], workspace: Workspace, name: str) -> Edited:
    """A campaign's file."""
    from cocli.app.campaigns.campaign import replace_config

    need_terminal(output, f"cocli campaign edit {name} --set KEY=VALUE")
    campaign = workspace.campaign(name)
    save = partial(replace_config, campaign)
    return edit_draft(output, environ, name, campaign.file.text, save)


def need_terminal(output: Output, instead: str) -> None:
    """Refuse to open an editor where nobody would see it."""
    if not interactive(output):
        raise UsageError(reason="There is no terminal to edit on", hint=f"Write: {instead}")


def edit_draft(
    output: Output, environ: Mapping[str, str], name: str, text: str, save: Callable[[bytes], Saved]
) -> Saved:
    """Open a text in $VISUAL or $EDITOR until it is valid or the person gives up; an unused draft is kept."""
    draft = _draft(name, text)
    while True:
        open_editor(environ, draft)
        with open(draft, "rb") as file:
            content = file.read()
        try:
            edited = save(content)
        except ConfigError as error:
            report_error(output, error)
            if not confirm(output, "Edit it again?", yes=False):
                raise _not_used(draft) from error
        except CocliError as error:
            output.talk(f"Your text is kept in {draft}")
            raise error from None
        else:
            os.unlink(draft)
            return edited


def _draft(name: str, text: str) -> str:
    descriptor, path = tempfile.mkstemp(prefix=f"cocli-{name}-", suffix=".toml")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def open_editor(environ: Mapping[str, str], path: str) -> None:
    """Open a file in $VISUAL or $EDITOR, and return when the person is done."""
    editor = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    try:
        subprocess.run([*shlex.split(editor), path], check=True)  # noqa: S603  the person's own choice of program
    except FileNotFoundError as error:
        raise UsageError(reason=f"The editor {editor} was not found", hint="Set EDITOR.") from error
    except subprocess.CalledProcessError as error:
        raise UsageError(reason=f"The editor {editor} failed ({error.returncode}); nothing was changed") from error


def _not_used(draft: str) -> UsageError:
    return UsageError(reason="Nothing was changed", hint=f"Your text is kept in {draft}")
