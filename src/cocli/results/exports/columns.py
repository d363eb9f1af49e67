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
    return _joined([f"{opening.day} {opening.opens}-{opening.closes}" for opening in prospect.hours])


def _socials(prospect: Prospect) -> str | None:
    return _joined([f"{network} {address}" for network, address in sorted(prospect.socials.items())])


COLUMNS: dict[str, Getter] = {
    "name": lambda prospect: prospect.name,
    "phone": lambda prospect: prospect.phone_e164 or prospect.phone,
    "email": lambda prospect: prospect.primary_email or next(iter(prospect.all_emails), None),
    "emails": lambda prospect: _joined(prospect.all_emails),
    "website": lambda prospect: prospect.website,
    "domain": lambda prospect: prospect.domain,
    "street": lambda prospect: prospect.street,
    "city": lambda prospect: prospect.city,
    "region": lambda prospect: prospect.region,
    "postcode": lambda prospect: prospect.postcode,
    "country": lambda prospect: prospect.country,
    "lat": lambda prospect: prospect.lat,
    "lon": lambda prospect: prospect.lon,
    "categories": lambda prospect: _joined(prospect.categories),
    "rating": lambda prospect: prospect.rating,
    "review_count": lambda prospect: prospect.review_count,
    "hours": _hours,
    "business_status": lambda prospect: prospect.business_status,
    "socials": _socials,
    "tags": lambda prospect: _joined(prospect.tags),
    "phrases": lambda prospect: _joined(prospect.phrases),
    "tiles": lambda prospect: _joined(prospect.tiles),
    "sources": lambda prospect: _joined(prospect.sources),
    "first_seen": lambda prospect: render_utc(prospect.first_seen),
    "updated_at": lambda prospect: render_utc(prospect.updated_at),
    "campaign": lambda prospect: prospect.campaign,
    "slug": lambda prospect: prospect.slug,
    "place_id": lambda prospect: prospect.place_id,
    "company_hash": lambda prospect: prospect.company_hash,
    "phone_e164": lambda prospect: prospect.phone_e164,
    "primary_email": lambda prospect: prospect.primary_email,
    "all_emails": lambda prospect: _joined(prospect.all_emails),
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
