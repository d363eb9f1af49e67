"""Names of campaigns: which there are, and what one may be called.

A name becomes part of keys, bucket names and file paths, so it is checked first.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.keys.parts import decode_part
from cocli.keys.paths import CAMPAIGNS_FOLDER
from cocli.store.folders import children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.store.base import Store

LONGEST = 52
_NAME = re.compile(rf"[a-z0-9](?:[a-z0-9-]{{0,{LONGEST - 2}}}[a-z0-9])?")
RULE = f"1 to {LONGEST} lower-case letters, digits and dashes"


def campaign_names(store: Store) -> Iterator[str]:
    """Every campaign that the store has a folder of."""
    for child in children(store, CAMPAIGNS_FOLDER):
        if isinstance(child, str):
            yield decode_part(child[:-1])


def check_campaign_name(name: str) -> None:
    """Refuse what cannot be a campaign, naming the part that is wrong and a name that would do."""
    if _NAME.fullmatch(name):
        return
    part, reason = _offence(name)
    proposal = propose_name(name)
    raise UsageError(
        reason=f"{_shown(name)} cannot be the name of a campaign: {reason}",
        hint=f"Use {RULE}" + (f", for example: {proposal}" if proposal else "."),
        name=_shown(name),
        part=part,
    )


def propose_name(name: str) -> str:
    """A valid name that resembles the given one; empty where nothing is left of it."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:LONGEST].strip("-")


def _offence(name: str) -> tuple[str, str]:
    """The offending part, and what is wrong with it."""
    if not name.strip():
        return name, "it is empty"
    if len(name) > LONGEST:
        return _shown(name), f"it has {len(name)} characters, at most {LONGEST} fit into a bucket's name"
    for part in name.split("/"):
        if part in (".", ".."):
            return part, f'the part "{part}" would leave its folder'
    stranger = re.search(r"[^a-z0-9-]", name)
    if stranger:
        character = stranger[0]
        kind = "character"
        if unicodedata.category(character).startswith("C"):
            kind = "control character"
        return _shown(character), f"the {kind} {_shown(character)} is not allowed"
    return "-", "it begins or ends with a dash"


def _shown(text: str) -> str:
    """A text that may hold anything, as one short printable word in quotes."""
    short = text if len(text) <= 60 else text[:40] + "…"
    if short.isprintable():
        return f'"{short}"'
    return ascii(short)
