"""What a record says that no node read: an import, an older system, a name server. No parser changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from cocli.models.prospect import Prospect
from cocli.pipeline.merge.rules import MATCHING, WEBSITE
from cocli.pipeline.sources.registry import parses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.models.domain import Domain
    from cocli.models.email import EmailEntry
    from cocli.models.origin import Origin

R = TypeVar("R", "EmailEntry", "Domain", Prospect)
_LISTED = "-list"
"""A row of a list counts as another source than the page of the place; both are captures of one."""
_ALWAYS = ("company_hash", "slug", "name", "campaign", "first_seen", "updated_at", "tags", "phrases", "tiles")


def carried_prospect(known: Prospect) -> Prospect | None:
    """The part of a prospect that no node read; None where there is none."""
    origins = _kept(known.origins)
    if not origins or known.merged_into is not None:
        return None
    names = {name.partition(".")[0] for origin in origins for name in origin.fields}
    values: dict[str, Any] = {name: getattr(known, name) for name in {*names, *_ALWAYS}}
    if "socials" in names:
        entries = {name.partition(".")[2] for origin in origins for name in origin.fields}
        values["socials"] = {network: url for network, url in known.socials.items() if network in entries}
    if "primary_email" in names and known.primary_email is not None:
        values["all_emails"] = (known.primary_email,)
    sources = tuple(origin.source for origin in origins)
    return Prospect(**values, sources=tuple(dict.fromkeys(sources)), origins=origins)


def carried_entry(known: R, empty: R) -> R | None:
    """The same of an address or a domain. `empty` is the record with nothing but its key and its times."""
    origins = _kept(known.origins)
    if not origins:
        return None
    names = {name for origin in origins for name in origin.fields}
    return empty.with_changes(origins=origins, **{name: getattr(known, name) for name in names})


def is_only_checked(known: EmailEntry) -> bool:
    """Whether all that is said of an address beside the nodes is whether it takes mail."""
    return all(set(origin.fields) <= {"verification"} for origin in _kept(known.origins))


def _kept(origins: Iterable[Origin]) -> tuple[Origin, ...]:
    return tuple(
        origin
        for origin in origins
        if origin.source != MATCHING and not (origin.document and _is_read_by_nodes(origin.source))
    )


def _is_read_by_nodes(source: str) -> bool:
    """Whether a node reads the documents of a source: then what it says is made anew from the states."""
    return source == WEBSITE or parses(source.removesuffix(_LISTED))
