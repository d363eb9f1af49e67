"""How the campaign of a list is called, and where the enriched list goes."""

from __future__ import annotations

import os

from cocli.app.campaigns.name import check_campaign_name, propose_name
from cocli.app.sources.content import STDIN
from cocli.app.whole_file import absolute
from cocli.errors import UsageError
from cocli.results.exports.table_formats import table_format

_PACKED = (".gz", ".gzip")
_ENRICHED = ".enriched.xlsx"
_OF_STDIN = "list"


def campaign_of(file: str, asked: str | None) -> str:
    """The campaign that was asked for, else the name of the file as one."""
    name = asked or (_OF_STDIN if file == STDIN else propose_name(os.path.basename(_stem(file))))
    if not name:
        raise UsageError(reason=f"No name of a campaign can be made of {file}", hint="Name one: --campaign NAME")
    check_campaign_name(name)
    return name


def enriched_file(file: str, campaign: str, asked: str | None) -> str:
    """Where the enriched list is written: beside the list, unless a person says otherwise. Never over the list."""
    standard = f"{campaign}{_ENRICHED}" if file == STDIN else f"{_stem(file)}{_ENRICHED}"
    path = absolute(asked or standard)
    table_format(path)
    if os.path.isdir(path):
        raise UsageError(reason=f"{path} is a folder", hint="Name a file in it: --out FILE")
    if not os.path.isdir(os.path.dirname(path)):
        raise UsageError(reason=f"There is no folder {os.path.dirname(path)}", hint="Name another file: --out FILE")
    if file != STDIN and os.path.realpath(path) == os.path.realpath(absolute(file)):
        raise UsageError(reason=f"{path} is the list itself", hint="Name another file: --out FILE")
    return path


def _stem(file: str) -> str:
    packed = next((ending for ending in _PACKED if file.lower().endswith(ending)), "")
    return os.path.splitext(file[: len(file) - len(packed)])[0]
