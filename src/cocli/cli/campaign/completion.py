"""Campaign names for the shell: quickly or not at all, and never a word about what went wrong."""

from __future__ import annotations

import os
import threading

_PATIENCE_SECONDS = 1.5


def campaign_names() -> list[str]:
    """The campaigns of the store that is configured; nothing where it does not answer in time."""
    found: list[str] = []
    # A thread, because a store that does not answer cannot be interrupted: it is left behind when the process ends.
    thread = threading.Thread(target=_collect, args=(found,), daemon=True)
    thread.start()
    thread.join(_PATIENCE_SECONDS)
    return [] if thread.is_alive() else found


def _collect(found: list[str]) -> None:
    try:
        from cocli.app.campaigns.name import campaign_names as names_in
        from cocli.app.workspace import open_workspace
        from cocli.config.resolve import Flags

        with open_workspace(os.environ, Flags()) as workspace:
            found.extend(sorted(names_in(workspace.store)))
    except Exception:  # noqa: BLE001  the person is typing: an error here would land in the middle of the prompt
        found.clear()
