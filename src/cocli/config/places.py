"""Where things are on this machine: the data home, the user's configuration file, and the cache."""

from __future__ import annotations

import os
from collections.abc import Mapping

Environment = Mapping[str, str]
"""The environment is always handed in, so that no result depends on whose process this is."""

DATA_HOME_VARIABLE = "COCLI_DATA_HOME"
USER_FILE_VARIABLE = "COCLI_CONFIG"
CACHE_HOME_VARIABLE = "COCLI_CACHE_HOME"
STATE_HOME_VARIABLE = "COCLI_STATE_HOME"
CAMPAIGN_IN_USE = "campaign-in-use"
"""A file of the state home: the name of the campaign that a person works on."""


def data_home(environ: Environment) -> str:
    """The folder that is the store when nothing else is configured."""
    if chosen := environ.get(DATA_HOME_VARIABLE):
        return _absolute(chosen, environ)
    return os.path.join(_base(environ, "XDG_DATA_HOME", ".local/share"), "cocli")


def user_file(environ: Environment) -> str:
    """The file with a person's own defaults."""
    if chosen := environ.get(USER_FILE_VARIABLE):
        return _absolute(chosen, environ)
    return os.path.join(_base(environ, "XDG_CONFIG_HOME", ".config"), "cocli", "config.toml")


def cache_home(environ: Environment) -> str:
    """The folder of copies that can be made again: fetched shards, derived tables. Removing it loses nothing."""
    if chosen := environ.get(CACHE_HOME_VARIABLE):
        return _absolute(chosen, environ)
    return os.path.join(_base(environ, "XDG_CACHE_HOME", ".cache"), "cocli")


def state_home(environ: Environment) -> str:
    """The folder of what this machine remembers: the catalogues of its stores, the secret of its tokens."""
    if chosen := environ.get(STATE_HOME_VARIABLE):
        return _absolute(chosen, environ)
    return os.path.join(_base(environ, "XDG_STATE_HOME", ".local/state"), "cocli")


def campaign_in_use(environ: Environment) -> str | None:
    """The campaign that `cocli campaign use` has remembered; None where there is none."""
    try:
        with open(os.path.join(state_home(environ), CAMPAIGN_IN_USE), encoding="utf-8", errors="replace") as file:
            return file.readline().strip() or None
    except OSError:  # not there, or not ours to read: then a campaign is named
        return None


def _base(environ: Environment, variable: str, below_home: str) -> str:
    # The XDG rules say that a relative path in these variables is to be ignored.
    chosen = environ.get(variable, "")
    return chosen if os.path.isabs(chosen) else os.path.join(_home(environ), below_home)


def _home(environ: Environment) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def _absolute(path: str, environ: Environment) -> str:
    if path == "~" or path.startswith("~/"):
        path = _home(environ) + path[1:]
    return os.path.abspath(path)
