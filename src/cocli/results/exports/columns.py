"""What a row says of a prospect, column by column: texts, numbers, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.models.prospect import Prospect
from cocli.models.record import render_utc

if TYPE_CHECKING:
    from collections.abc import Sequence

Value = str | int | float | None
Getter = Callable[[Prospect], Value]
BETWEEN = "; "


def _joined(values: Sequence[str]) -> str | None:
    return BETWEEN.join(values) or None


def _hours(prospect: Prospect) -> str | None:
    return _joined([f"{one.day} {one.opens}-{one.closes}" for one in prospect.hours])


def _socials(prospect: Prospect) -> str | None:
    return _joined([f"{network} {address}" for network, address in sorted(prospect.socials.items())])


COLUMNS: dict[str, Getter] = {
    "name": lambda one: one.name,
    "phone": lambda one: one.phone_e164 or one.phone,
    "email": lambda one: one.primary_email or next(iter(one.all_emails), None),
    "emails": lambda one: _joined(one.all_emails),
    "website": lambda one: one.website,
    "domain": lambda one: one.domain,
    "street": lambda one: one.street,
    "city": lambda one: one.city,
    "region": lambda one: one.region,
    "postcode": lambda one: one.postcode,
    "country": lambda one: one.country,
    "lat": lambda one: one.lat,
    "lon": lambda one: one.lon,
    "categories": lambda one: _joined(one.categories),
    "rating": lambda one: one.rating,
    "review_count": lambda one: one.review_count,
    "hours": _hours,
    "business_status": lambda one: one.business_status,
    "socials": _socials,
    "tags": lambda one: _joined(one.tags),
    "phrases": lambda one: _joined(one.phrases),
    "tiles": lambda one: _joined(one.tiles),
    "sources": lambda one: _joined(one.sources),
    "first_seen": lambda one: render_utc(one.first_seen),
    "updated_at": lambda one: render_utc(one.updated_at),
    "campaign": lambda one: one.campaign,
    "slug": lambda one: one.slug,
    "place_id": lambda one: one.place_id,
    "company_hash": lambda one: one.company_hash,
    "phone_e164": lambda one: one.phone_e164,
    "primary_email": lambda one: one.primary_email,
    "all_emails": lambda one: _joined(one.all_emails),
}
"""Every column there is. The last three are the prospect's own names of what `phone` and `email` choose from."""

DEFAULT = tuple(COLUMNS)[:-3]
PHONES = frozenset({"phone", "phone_e164"})


def chosen(names: Sequence[str] | None) -> tuple[str, ...]:
    """The columns that were asked for, checked; all of them where none were."""
    if not names:
        return DEFAULT
    wanted = [name.strip().lower() for text in names for name in text.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in COLUMNS]
    if unknown:
        raise UsageError(
            reason=f'There is no column "{unknown[0]}"', hint=f"Choose from: {', '.join(COLUMNS)}", column=unknown[0]
        )
    return tuple(dict.fromkeys(wanted)) or DEFAULT
