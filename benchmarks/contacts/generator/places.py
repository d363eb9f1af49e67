"""Where a firm is and when it is open, as pages say it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from benchmarks.contacts.generator.draft import Draft

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def add_address(draft: Draft, where: str) -> None:
    place = draft.place
    draft.truth.addresses.append(
        {
            "street": place.street,
            "postcode": place.postcode,
            "city": place.city,
            "region": place.region,
            "country": place.country,
        }
    )
    _FORMS[where](draft)


def _lines(draft: Draft) -> list[str]:
    return [escape(line) for line in draft.place.lines]


def _text(draft: Draft) -> None:
    draft.body.append(draft.line("address", ", ".join(_lines(draft))))


def _footer(draft: Draft) -> None:
    draft.footer.append(draft.look.block([escape(draft.firm), *_lines(draft)]))


def _legal(draft: Draft) -> None:
    lines = [
        escape(draft.firm),
        f"{draft.label('owner')}: {escape(draft.say('people').partition('=')[0])}",
        *_lines(draft),
    ]
    draft.body.insert(0, draft.look.section(draft.label("legal"), lines))


def _element(draft: Draft) -> None:
    draft.body.append(draft.look.address([escape(draft.firm), *_lines(draft)]))


def _parts(draft: Draft) -> dict[str, str]:
    place = draft.place
    parts = {
        "streetAddress": place.street,
        "postalCode": place.postcode,
        "addressLocality": place.city,
        "addressRegion": place.region,
        "addressCountry": place.country,
    }
    return {name: value for name, value in parts.items() if value}


def _json_ld(draft: Draft) -> None:
    draft.graph["address"] = {"@type": "PostalAddress", **_parts(draft)}


def _microdata(draft: Draft) -> None:
    parts = {name: escape(value) for name, value in _parts(draft).items()}
    draft.body.append(draft.look.microdata(escape(draft.firm), parts))


_FORMS: dict[str, Callable[[Draft], None]] = {
    "text": _text,
    "footer": _footer,
    "legal": _legal,
    "element": _element,
    "json-ld": _json_ld,
    "microdata": _microdata,
}


def add_hours(draft: Draft, where: str) -> None:
    """Weekdays from Monday to Friday, another time on Saturday."""
    opens = draft.random.choice(("08:00", "09:00", "08:30", "10:00"))
    closes = draft.random.choice(("17:00", "18:00", "18:30", "19:00"))
    for day in _DAYS[:5]:
        draft.truth.hours.append({"day": day[:2].lower(), "opens": opens, "closes": closes})
    draft.truth.hours.append({"day": "sa", "opens": opens, "closes": "13:00"})
    if where == "json-ld":
        draft.graph["openingHoursSpecification"] = [
            {"@type": "OpeningHoursSpecification", "dayOfWeek": list(_DAYS[:5]), "opens": opens, "closes": closes},
            {"@type": "OpeningHoursSpecification", "dayOfWeek": _DAYS[5], "opens": opens, "closes": "13:00"},
        ]
        return
    days = draft.words.country.days
    rows = [(f"{days[0]} – {days[4]}", f"{opens} – {closes}"), (days[5], f"{opens} – 13:00")]
    draft.body.append(draft.look.opening(draft.label("hours"), rows))


def add_price(draft: Draft) -> None:
    draft.body.append(f"<p>{escape(draft.words.country.money)}</p>")
