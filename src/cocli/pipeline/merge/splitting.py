"""Undoing a wrong merge: what was taken for another business is one of its own again, and stays one.

Its `split_from` says that a person wants the two apart. Matching never brings them together again, and whatever brings
the old pointer back (an older copy, a worker that was late) is undone when the campaign is settled.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from cocli.pipeline.merge.records import merge_prospects
from cocli.pipeline.merge.rules import WEBSITE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.models.origin import Origin
    from cocli.models.prospect import Prospect

_MOST_MOVES = 10
_NEEDED = frozenset(("slug", "name"))
"""What every record has to say."""
_OF_SITE = frozenset(("domain", "website"))


def split_off(part: Prospect, whole: str) -> Prospect:
    """The part as a business of its own that is not the whole, whatever they share."""
    origins = (_without(origin, frozenset(("merged_into",))) for origin in part.origins)
    return part.with_changes(
        merged_into=None,
        split_from=(*part.split_from, whole),
        origins=tuple(origin for origin in origins if origin.fields),
    )


def without_part(whole: Prospect, part: Prospect, own: Sequence[Prospect] = ()) -> Prospect:
    """The whole without what the part said of it; `own` is what was said of itself, as far as it is still known.

    What one page of their website says cannot be told apart: it goes, and settling hands it to both again. Whatever is
    lost beside that is said again by the next observation.
    """
    theirs = {_seen(origin) for origin in part.origins}
    lost = {
        name
        for origin in whole.origins
        for name in origin.fields
        if _seen(origin) in theirs or (origin.source == WEBSITE and name not in _OF_SITE)
    }
    lost -= _kept_in_common(whole, part)
    origins = tuple(kept for origin in whole.origins if (kept := _without(origin, frozenset(lost))).fields)
    values = {name: _default(whole, name) for name in lost if "." not in name and name not in _NEEDED}
    networks = {name.partition(".")[2] for name in lost if name.startswith("socials.")}
    sources = {origin.source for origin in origins}
    rest = whole.with_changes(
        **values,
        socials={network: url for network, url in whole.socials.items() if network not in networks},
        all_emails=tuple(email for email in whole.all_emails if email not in part.all_emails),
        source_ids=tuple(name for name in whole.source_ids if name not in part.source_ids),
        sources=tuple(source for source in whole.sources if source in sources),
        origins=origins,
    )
    if not own:
        return rest
    mine = reduce(merge_prospects, own)
    # A name that nobody says any more would count as said by whoever is left.
    return merge_prospects(mine, rest.with_changes(name=mine.name, slug=mine.slug) if "name" in lost else rest)


def _kept_in_common(whole: Prospect, part: Prospect) -> frozenset[str]:
    """Whoever was brought together by their website has it on both sides."""
    return _OF_SITE if whole.domain and whole.domain == part.domain else frozenset()


def _seen(origin: Origin) -> tuple[object, ...]:
    """Which observation it was, whatever it was concluded from."""
    return origin.observed_at, origin.source, origin.document


def _default(record: Prospect, name: str) -> Any:
    return type(record).model_fields[name].get_default(call_default_factory=True)


def _without(origin: Origin, fields: frozenset[str]) -> Origin:
    return origin.model_copy(update={"fields": tuple(name for name in origin.fields if name not in fields)})


def mended(every: Mapping[str, Prospect]) -> list[Prospect]:
    """Of all prospects, those that have to change for every split to hold, as they have to be."""
    now = dict(every)
    for part in every.values():
        for name in part.split_from:
            whole = _followed(now, name)
            pointer = now[part.company_hash].merged_into
            if pointer is not None and (pointer in (name, whole) or _followed(now, pointer) in (name, whole)):
                now[part.company_hash] = split_off(now[part.company_hash], name)
            whole = _followed(now, name)
            is_mixed = whole in now and {*now[whole].source_ids} & {*part.source_ids}
            if is_mixed and whole != part.company_hash:
                now[whole] = without_part(now[whole], part)
    return [record for company, record in now.items() if record != every[company]]


def _followed(every: Mapping[str, Prospect], company: str) -> str:
    """Under which hash it is known now."""
    for _ in range(_MOST_MOVES):
        record = every.get(company)
        if record is None or record.merged_into is None:
            break
        company = record.merged_into
    return company
