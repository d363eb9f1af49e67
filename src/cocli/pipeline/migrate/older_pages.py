"""A company's folder of an older version → a page and notes of today. What a person wrote stays, word for word.

The older page mixed a program's facts with a person's keys. Facts go below `cocli:` where a place id says which
business they are about, and the next refresh goes on from there. Without one nobody can tell whose they are: name,
website, phone and e-mail stay the person's, as for a company that was entered by hand. All other keys stay as they are.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from cocli.errors import IdentityError
from cocli.formats.markdown import MarkdownFile
from cocli.keys.identities import company_hash, is_place_id, registrable_domain
from cocli.models.company import CompanyFacts
from cocli.models.note import NoteFacts
from cocli.pipeline.migrate.facts import e164
from cocli.pipeline.migrate.origins import SOURCE
from cocli.pipeline.websites.facts.emails.address import read_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_OWN_WORDS = {"website": "website_url", "phone": "phone_number", "email": "email", "name": "name"}
"""Today's key of a person → the older key of a program."""
_PHONES = ("phone_number", "phone_1", "phone_from_website")
_FACTS = (
    "place_id",
    "name",
    "slug",
    "domain",
    "website_url",
    "email",
    "all_emails",
    "full_address",
    "categories",
    "company_hash",
)


def converted_page(data: bytes, tags: Sequence[str], campaign: str, at: datetime, *, file: str) -> bytes:
    """Today's page. A page that is there already as today's is given back as it is."""
    page = MarkdownFile.parse(data, file=file)
    if page.program is not None:
        return data
    front = page.front
    facts = _facts(front, campaign, at)
    unread = facts is not None and facts.phone_e164 is None  # a number that nobody could read stays where it is
    for name in (*_FACTS, *(() if unread else _PHONES)):
        if name in front:
            page = page.with_value(name, None)
    if facts is None:
        for name, value in _own_words(front).items():
            page = page.with_value(name, value)
    else:
        page = page.with_program(facts.model_dump(mode="json", exclude_none=True))
    wanted = tuple(tags) or tuple(_texts(front.get("tags")))
    if wanted != tuple(_texts(front.get("tags"))):
        page = page.with_value("tags", list(wanted))
    return page.render()


def converted_note(data: bytes, at: datetime, *, file: str) -> bytes:
    """Today's note or meeting: `timestamp:` becomes `date:`, and the key `cocli:` says where it came from."""
    note = MarkdownFile.parse(data, file=file)
    if note.program is not None:
        return data
    moment = _moment(note.front.get("timestamp")) or _named_moment(file)
    if "timestamp" in note.front:
        note = note.with_value("timestamp", None)
    if "date" not in note.front and moment is not None:
        note = note.with_value("date", moment.isoformat(timespec="minutes"))
    made = NoteFacts(source=SOURCE, source_id=file.rpartition("/")[2], created_at=moment or at)
    return note.with_program(made.model_dump(mode="json", exclude_none=True)).render()


def _facts(front: Mapping[Any, Any], campaign: str, at: datetime) -> CompanyFacts | None:
    place = str(front.get("place_id") or "").strip()
    if not is_place_id(place):
        return None
    return CompanyFacts(
        company_hash=company_hash(place),
        place_id=place,
        name=_text(front.get("name")),
        domain=_domain(front),
        website=_text(front.get("website_url")),
        phone_e164=_number(front),
        emails=tuple(dict.fromkeys(_addresses((front.get("email"), *_texts(front.get("all_emails")))))),
        address=_text(front.get("full_address")),
        categories=tuple(_texts(front.get("categories"))),
        campaigns=(campaign,),
        updated_at=at,
    )


def _own_words(front: Mapping[Any, Any]) -> dict[str, str]:
    found = {today: _text(front.get(older)) for today, older in _OWN_WORDS.items()}
    found["phone"] = next((text for name in _PHONES if (text := _text(front.get(name)))), None)
    found["website"] = found["website"] or _text(front.get("domain"))
    found["email"] = next(_addresses((front.get("email"), *_texts(front.get("all_emails")))), None)
    return {name: text for name, text in found.items() if text}


def _number(front: Mapping[Any, Any]) -> str | None:
    country = str(front.get("country") or "").upper()
    numbers = (e164(_text(front.get(name)), None, country if len(country) == 2 else None) for name in _PHONES)
    return next(filter(None, numbers), None)


def _domain(front: Mapping[Any, Any]) -> str | None:
    for name in ("domain", "website_url"):
        try:
            return registrable_domain(_text(front.get(name)) or "")
        except IdentityError:
            continue
    return None


def _addresses(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        address = read_address(str(value or ""))
        if address is not None:
            yield str(address)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, list | dict):
        return None
    return str(value).strip() or None


def _texts(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else str(value or "").split(";")
    return [text for entry in listed if (text := _text(entry))]


def _moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    try:
        return _moment(datetime.fromisoformat(str(value or "")))
    except ValueError:
        return None


def _named_moment(file: str) -> datetime | None:
    """`2026-02-20T10-30-00Z-called.md`, `2026-02-20T1030Z-called.md`: a moment of UTC before the title."""
    stem = file.rpartition("/")[2]
    for length, pattern in ((20, "%Y-%m-%dT%H-%M-%SZ"), (16, "%Y-%m-%dT%H%MZ"), (10, "%Y-%m-%d")):
        try:
            return datetime.strptime(stem[:length], pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
