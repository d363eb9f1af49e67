"""The campaign that a person works on: remembered on this machine, so that it need not be named each time.

It is a line in a file of the state home. `--campaign` and `CAMPAIGN_NAME` go before it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.app.whole_file import whole_file
from cocli.config.places import CAMPAIGN_IN_USE, state_home
from cocli.config.private import make_private
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace
    from cocli.config.places import Environment


def use_campaign(workspace: Workspace, name: str) -> str:
    """Remember a campaign that exists; returns the file that says so."""
    workspace.campaign(name)
    environ = workspace.settings.environ
    folder = state_home(environ)
    make_private(folder)
    path = os.path.join(folder, CAMPAIGN_IN_USE)
    if os.path.islink(path):
        os.unlink(path)  # no link of ours: followed, it could lead anywhere
    with whole_file(path) as file:
        file.write(f"{name}\n".encode())
    return path


def use_none(environ: Environment) -> bool:
    """Forget it; False if there was nothing to forget."""
    try:
        os.unlink(os.path.join(state_home(environ), CAMPAIGN_IN_USE))
    except FileNotFoundError:
        return False
    return True


def only_campaign(workspace: Workspace) -> str:
    """The campaign of a store that has one; with none or several, say which there are."""
    known = sorted(campaign_names(workspace.store))
    if len(known) == 1:
        return known[0]
    hint = "Name it with --campaign NAME, set CAMPAIGN_NAME, or: cocli campaign use NAME"
    if not known:
        hint = "Make one with: cocli campaign new NAME"
    raise UsageError(reason=f"Which campaign? Known campaigns: {', '.join(known) or 'none yet'}.", hint=hint)
