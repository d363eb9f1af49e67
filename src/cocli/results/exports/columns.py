"""What a row says of a business, column by column, and the sets of columns that have a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cocli.config.schema import did_you_mean
from cocli.errors import UsageError
from cocli.models.prospect import Prospect
from cocli.results.exports.cells import web_address
from cocli.results.exports.row import people_of, sheet_of, standing_of_row, zone_of
from cocli.results.exports.tables import BETWEEN, CellType, TableColumn, flat_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.results.companies.sheets import SheetEntry, SheetPerson

Getter = Callable[[Prospect], Any]


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """One column: what it says of a row, and what kind of value that is."""

    get: Getter
    """The value itself: a text, a number, a time, a list, a map, or nothing."""
    type: CellType = CellType.TEXT
    show: Callable[[Any], str | None] | None = None
    """The value as the text of one cell, where joining what it is made of does not do."""

    def __call__(self, prospect: Prospect) -> str | int | float | None:
        """The value for a format that knows texts and numbers."""
        return flat_text(self.shown(prospect))

    def shown(self, prospect: Prospect) -> Any:
        """The value for a format with one cell for it."""
        value = self.get(prospect)
        if self.show is not None:
            return self.show(value)
        return value


def _hours(openings: list[dict[str, str]]) -> str | None:
    return BETWEEN.join(f"{opening['day']} {opening['opens']}-{opening['closes']}" for opening in openings) or None


def _person(person: SheetPerson) -> dict[str, str]:
    return {key: value for key, value in asdict(person).items() if value}


def _people(people: list[dict[str, str]]) -> str | None:
    return BETWEEN.join(", ".join(person.values()) for person in people) or None


def _entry(entry: SheetEntry) -> str:
    text = " ".join(entry.text.split())
    said = text if text.startswith(entry.title) else f"{entry.title}: {text}".removesuffix(": ")
    return " ".join(filter(None, (entry.date, said)))


def _last_note(prospect: Prospect) -> str | None:
    notes = sheet_of(prospect).notes
    if notes:
        return _entry(notes[-1])
    return None


def _map_link(prospect: Prospect) -> str | None:
    """Where it is, on a map that opens in every browser and on every telephone."""
    if prospect.lat is None or prospect.lon is None:
        return None
    link = f"https://www.google.com/maps/search/?api=1&query={prospect.lat:.6f},{prospect.lon:.6f}"
    if prospect.place_id:
        return f"{link}&query_place_id={quote(prospect.place_id)}"
    return link


def _standing(prospect: Prospect, name: str) -> Any:
    """What taking stock found out; nothing where it never was taken."""
    standing = standing_of_row(prospect)
    return getattr(standing, name) if standing else None


def _standing_time(name: str) -> Getter:
    def get(prospect: Prospect) -> Any:
        time = _standing(prospect, name)
        return time.astimezone(zone_of(prospect)) if time else None

    return get


COLUMNS: dict[str, ExportColumn] = {
    "name": ExportColumn(lambda prospect: prospect.name),
    "phone": ExportColumn(lambda prospect: prospect.phone_e164 or prospect.phone, CellType.PHONE),
    "email": ExportColumn(
        lambda prospect: prospect.primary_email or next(iter(prospect.all_emails), None), CellType.EMAIL
    ),
    "emails": ExportColumn(lambda prospect: prospect.all_emails, CellType.TEXTS),
    "website": ExportColumn(lambda prospect: prospect.website, CellType.LINK),
    "domain": ExportColumn(lambda prospect: prospect.domain),
    "street": ExportColumn(lambda prospect: prospect.street),
    "city": ExportColumn(lambda prospect: prospect.city),
    "region": ExportColumn(lambda prospect: prospect.region),
    "postcode": ExportColumn(lambda prospect: prospect.postcode, CellType.POSTCODE),
    "country": ExportColumn(lambda prospect: prospect.country),
    "lat": ExportColumn(lambda prospect: prospect.lat, CellType.NUMBER),
    "lon": ExportColumn(lambda prospect: prospect.lon, CellType.NUMBER),
    "categories": ExportColumn(lambda prospect: prospect.categories, CellType.TEXTS),
    "rating": ExportColumn(lambda prospect: prospect.rating, CellType.NUMBER),
    "review_count": ExportColumn(lambda prospect: prospect.review_count, CellType.WHOLE),
    "hours": ExportColumn(
        lambda prospect: [opening.model_dump(mode="json") for opening in prospect.hours], CellType.DATA, _hours
    ),
    "business_status": ExportColumn(lambda prospect: prospect.business_status),
    "socials": ExportColumn(lambda prospect: dict(prospect.socials), CellType.DATA),
    "tags": ExportColumn(lambda prospect: prospect.tags, CellType.TEXTS),
    "phrases": ExportColumn(lambda prospect: prospect.phrases, CellType.TEXTS),
    "tiles": ExportColumn(lambda prospect: prospect.tiles, CellType.TEXTS),
    "sources": ExportColumn(lambda prospect: prospect.sources, CellType.TEXTS),
    "first_seen": ExportColumn(lambda prospect: prospect.first_seen.astimezone(zone_of(prospect)), CellType.TIME),
    "updated_at": ExportColumn(lambda prospect: prospect.updated_at.astimezone(zone_of(prospect)), CellType.TIME),
    "last_seen": ExportColumn(_standing_time("last_seen"), CellType.TIME),
    "standing": ExportColumn(lambda prospect: _standing(prospect, "state")),
    "standing_since": ExportColumn(_standing_time("since"), CellType.TIME),
    "changed_at": ExportColumn(_standing_time("changed_at"), CellType.TIME),
    "changes": ExportColumn(lambda prospect: _standing(prospect, "changes") or (), CellType.TEXTS),
    "campaign": ExportColumn(lambda prospect: prospect.campaign),
    "slug": ExportColumn(lambda prospect: prospect.slug),
    "place_id": ExportColumn(lambda prospect: prospect.place_id),
    "company_hash": ExportColumn(lambda prospect: prospect.company_hash),
    "status": ExportColumn(lambda prospect: sheet_of(prospect).status),
    "people": ExportColumn(
        lambda prospect: [_person(person) for person in people_of(prospect)], CellType.DATA, _people
    ),
    "note_count": ExportColumn(lambda prospect: len(sheet_of(prospect).notes) or None, CellType.WHOLE),
    "last_note": ExportColumn(_last_note),
    "notes": ExportColumn(lambda prospect: [_entry(note) for note in sheet_of(prospect).notes], CellType.TEXTS),
    "meetings": ExportColumn(
        lambda prospect: [_entry(meeting) for meeting in sheet_of(prospect).meetings], CellType.TEXTS
    ),
    "timezone": ExportColumn(lambda prospect: str(zone_of(prospect))),
    "map": ExportColumn(_map_link, CellType.LINK),
    "phone_e164": ExportColumn(lambda prospect: prospect.phone_e164, CellType.PHONE),
    "primary_email": ExportColumn(lambda prospect: prospect.primary_email, CellType.EMAIL),
    "all_emails": ExportColumn(lambda prospect: prospect.all_emails, CellType.TEXTS),
    "source_ids": ExportColumn(lambda prospect: prospect.source_ids, CellType.TEXTS),
    "origins": ExportColumn(
        lambda prospect: [origin.model_dump(mode="json") for origin in prospect.origins],
        CellType.DATA,
        lambda origins: BETWEEN.join(dict.fromkeys(str(origin["source"]) for origin in origins)) or None,
    ),
}
"""Every column there is. Those behind `map` are the record's own names and its evidence: they are in no preset but
`all`."""

HUBSPOT: dict[str, ExportColumn] = {
    "Company name": COLUMNS["name"],
    "Company domain name": COLUMNS["domain"],
    "Website URL": ExportColumn(lambda prospect: web_address(prospect.website), CellType.LINK),
    "Phone number": COLUMNS["phone"],
    "Email": COLUMNS["email"],
    "Street address": COLUMNS["street"],
    "City": COLUMNS["city"],
    "State/Region": COLUMNS["region"],
    "Postal code": COLUMNS["postcode"],
    "Country/Region": COLUMNS["country"],
    "LinkedIn company page": ExportColumn(
        lambda prospect: web_address(prospect.socials.get("linkedin")), CellType.LINK
    ),
    "Facebook company page": ExportColumn(
        lambda prospect: web_address(prospect.socials.get("facebook")), CellType.LINK
    ),
    "Description": ExportColumn(lambda prospect: ", ".join(prospect.categories) or None),
}
"""HubSpot's own names of the properties of a company, so that its import maps the columns by itself."""

DEFAULT = tuple(COLUMNS)[: tuple(COLUMNS).index("map") + 1]
PRESETS: dict[str, tuple[str, ...]] = {
    "short": ("name", "phone", "email", "website", "street", "postcode", "city", "categories"),
    "full": DEFAULT,
    "letters": ("name", "street", "postcode", "city", "region", "country"),
    "mailing": ("name", "email", "emails", "website", "city"),
    "calls": ("name", "phone", "city", "hours", "website"),
    "hubspot": tuple(HUBSPOT),
    "all": tuple(COLUMNS),
}
"""Sets of columns by name: what `--columns` takes beside the names of columns."""

_EVERY = COLUMNS | HUBSPOT


def chosen(names: Sequence[str] | None, default: Sequence[str] = DEFAULT) -> tuple[str, ...]:
    """The columns that were asked for, by preset or by name, checked; the default where none were."""
    wanted = [name.strip() for text in names or () for name in text.split(",") if name.strip()]
    found: list[str] = []
    for name in wanted:
        lowered = name.lower()
        if lowered in PRESETS:
            found += PRESETS[lowered]
        elif lowered in COLUMNS:
            found.append(lowered)
        else:
            known = [*PRESETS, *COLUMNS]
            raise UsageError(
                reason=f'There is no column "{name}"',
                hint=did_you_mean(lowered, known, f"Choose from: {', '.join(known)}"),
                column=name,
            )
    return tuple(dict.fromkeys(found)) or tuple(default)


def column_of(name: str) -> ExportColumn:
    """A column by its name, as `chosen` gave it."""
    return _EVERY[name]


def table_columns(names: Sequence[str]) -> list[TableColumn]:
    """The columns of a table of businesses."""
    return [TableColumn(name, column_of(name).type) for name in names]


def table_rows(prospects: Iterable[Prospect], names: Sequence[str], *, structured: bool) -> Iterator[list[Any]]:
    """The values of each row; lists and maps as they are where the format has them."""
    columns = [column_of(name) for name in names]
    for prospect in prospects:
        yield [column.get(prospect) if structured else column.shown(prospect) for column in columns]
