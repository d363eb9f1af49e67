"""What older rows say about a business, in today's terms: identities, phones, countries, domains, opening hours.

A value that cannot be read for certain is left out and counted (`row.mended`), never guessed. Two ids that name two
places are an error: then it is not known whose row it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from cocli.errors import IdentityError
from cocli.keys.identities import check_same_place, is_place_id, place_id
from cocli.keys.tile import Tile
from cocli.models.place import OpenHours
from cocli.pipeline.migrate.row import OldRow, misfit, slugged
from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.hosts.shared import own_domain

if TYPE_CHECKING:
    from cocli.pipeline.migrate.row import Context

_FEATURE_IN_URL = re.compile(r"!1s(0x[0-9a-f]{1,16}:0x[0-9a-f]{1,16})", re.IGNORECASE)
_PLACE_IN_URL = re.compile(r"(?:place_id[:=]|!19s|placeid=)([CG]hIJ[A-Za-z0-9_-]{23})(?![A-Za-z0-9_-])")
_CID_IN_URL = re.compile(r"[?&]cid=([0-9]{1,20})(?![0-9])")
_COUNTRIES = {"united states": "US", "united states of america": "US", "usa": "US", "canada": "CA", "mexico": "MX"}
_DAYS = {
    "mo": "monday",
    "tu": "tuesday",
    "we": "wednesday",
    "th": "thursday",
    "fr": "friday",
    "sa": "saturday",
    "su": "sunday",
}
_CLOCK = r"([0-9]{1,2})(?::([0-9]{2}))?\s*([ap])\.?m\.?"
_SPAN = re.compile(rf"{_CLOCK}\s*(?:-|–|—|to)\s*{_CLOCK}", re.IGNORECASE)
_TENTHS = re.compile(r"-?[0-9]{1,3}\.[0-9]")
_LABEL_LIMIT = 1024


def checked_place_id(row: OldRow) -> str:
    """The place id of a row, held against every other id that the row shows."""
    text = row.text("place_id")
    if text is None:
        raise misfit("no place id")
    try:
        place = place_id(text)
        url = unquote(row.text("gmb_url") or "")
        seen = _PLACE_IN_URL.search(url)
        if seen and is_place_id(seen.group(1)) and seen.group(1) != place:
            raise misfit(f"the ids name two places: {place}, and {seen.group(1)} in its address")
        if place.startswith("C"):
            feature, cid = _FEATURE_IN_URL.search(url), _CID_IN_URL.search(url)
            check_same_place(place, feature_id=feature.group(1) if feature else None)
            check_same_place(place, cid=cid.group(1) if cid else _cid(row))
    except IdentityError as error:
        raise misfit(f"the ids do not fit together: {error.message}") from error
    return place


def _cid(row: OldRow) -> str | None:
    text = row.text("cid")
    if text is None:
        return None
    if re.fullmatch(r"[0-9]{1,20}", text):
        return text
    row.mended("cid left out: not a decimal number")
    return None


def name(row: OldRow) -> str:
    """A row without a name is a hollow save: a later version of the record had lost its values when it was written."""
    text = row.text("name")
    if text is None:
        raise misfit("hollow: the row has no name")
    return text


def slug(row: OldRow, name_of_company: str) -> str:
    text = row.text("company_slug")
    if text in (None, "None"):
        text = slugged(name_of_company) or "unnamed"
    return re.sub(r"[\x00-\x1f\x7f]+", " ", text or "")[:_LABEL_LIMIT].strip() or "unnamed"


def domain(row: OldRow, column: str = "domain") -> str | None:
    text = row.text(column)
    if text is None:
        return None
    found = own_domain(text)
    if found is None:
        row.mended(f"domain left out: not one that a company has to itself ({column})")
    return found


def country(row: OldRow) -> str | None:
    text = row.text("country")
    if text is None:
        return None
    if re.fullmatch(r"[A-Z]{2}", text):
        return text
    code = _COUNTRIES.get(text.lower().strip("."))
    if code is None:
        row.mended("country left out: not a code")
    return code


def e164(phone: str | None, standard: str | None, country_code: str | None) -> str | None:
    """The phone number in E.164, where the number or the country says which it is."""
    import phonenumbers  # tables of some megabytes: only where there are rows to read

    for text in (standard, phone):
        if text is None or not (text.startswith("+") or country_code):
            continue
        try:
            number = phonenumbers.parse(text, None if text.startswith("+") else country_code)
        except phonenumbers.NumberParseException:
            continue  # the raw text stays in `phone`
        if phonenumbers.is_valid_number(number):
            return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return None


def review_count(row: OldRow, *addresses: str | None) -> int | None:
    """The number of reviews, unless it is a number of the phone or of the address that a loose pattern caught."""
    count = row.whole("reviews_count")
    if count is None or count < 100:
        return count
    digits = str(count)
    phones = (row.text("phone"), row.text("phone_standard_format"))
    groups = [group for phone in phones if phone for group in re.findall(r"[0-9]+", phone)]
    if digits in groups or any(_area_code(group) == digits for group in groups):
        row.mended("reviews_count left out: a part of the phone number")
        return None
    if any(digits in re.findall(r"[0-9]+", address) for address in addresses if address):
        row.mended("reviews_count left out: a number of the address")
        return None
    return count


def _area_code(digits: str) -> str | None:
    """The area code of a North American number that is written in one piece."""
    national = digits[1:] if len(digits) == 11 and digits.startswith("1") else digits
    if len(national) == 10:
        return national[:3]
    return None


def rating(row: OldRow) -> float | None:
    value = row.number("average_rating")
    if value is not None and not 0 <= value <= 5:
        raise misfit(f"average_rating: {value:g} is not between 0 and 5 (are the columns shifted?)")
    return value


def tile(row: OldRow, context: Context) -> str | None:
    """The tile that a row was found in: by its own column, else by the folder of its file."""
    text = row.text("discovery_tile_id")
    if text is None:
        return context.tile
    lat, _, rest = text.partition("_")
    named = tile_name(lat, rest.partition("_")[0])
    if named is None:
        row.mended("tile left out: not of the grid")
    return named


def tile_name(lat: str, lon: str) -> str | None:
    """The name of a tile of today's grid; minus zero loses its sign. None where it is not one.

    Older grids knew tiles of a tenth of a degree only: two decimals are a centre, not the name of a smaller tile.
    """
    if not (_TENTHS.fullmatch(lat) and _TENTHS.fullmatch(lon)):
        return None
    try:
        return str(Tile.parse(_without_minus_zero(lat), _without_minus_zero(lon)))
    except IdentityError:
        return None


def _without_minus_zero(text: str) -> str:
    if text == "-0.0":
        return text.removeprefix("-")
    return text


def position(row: OldRow, tile_of_row: str | None) -> tuple[float | None, float | None]:
    """Where it is. An older version filled the corner of the tile in where it did not know: that is no position."""
    lat, lon = row.number("latitude"), row.number("longitude")
    if (lat is None or lon is None) and (text := row.text("coordinates")):
        match = re.fullmatch(r"\(?\s*(-?[0-9.]+)\s*,\s*(-?[0-9.]+)\s*\)?", text)
        lat, lon = (float(match.group(1)), float(match.group(2))) if match else (None, None)
    if lat is None or lon is None:
        return None, None
    if not (-90 <= lat <= 90 and -180 <= lon <= 180):
        raise misfit(f"{lat:g}, {lon:g} is no position (are the columns shifted?)")
    if tile_of_row == tile_name(f"{lat:.1f}", f"{lon:.1f}") and (lat, lon) == (round(lat, 1), round(lon, 1)):
        row.mended("position left out: it is the corner of the tile")
        return None, None
    return lat, lon


def hours(row: OldRow) -> tuple[OpenHours, ...]:
    """The opening hours, from the texts of the seven days. All of them, or none: half a week would be a lie."""
    found: list[OpenHours] = []
    for day, column in _DAYS.items():
        text = row.text(column)
        if text is None or "closed" in text.lower():
            continue
        if "24 hours" in text.lower():
            found.append(OpenHours.model_validate({"day": day, "opens": "00:00", "closes": "24:00"}))
            continue
        spans = _SPAN.findall(text)
        if not spans or _SPAN.sub("", text).strip(" ,;\n"):
            row.mended("hours left out: not understood")
            return ()
        for span in spans:
            opens, closes = _clock(*span[:3]), _clock(*span[3:])
            if opens is None or closes is None:
                row.mended("hours left out: not understood")
                return ()
            found.append(OpenHours.model_validate({"day": day, "opens": opens, "closes": closes}))
    return tuple(found)


def _clock(hour: str, minute: str, half: str) -> str | None:
    if not 1 <= int(hour) <= 12 or int(minute or 0) > 59:
        return None
    return f"{int(hour) % 12 + (12 if half.lower() == 'p' else 0):02d}:{int(minute or 0):02d}"


def emails(row: OldRow, column: str = "email") -> tuple[str, ...]:
    """Addresses that can receive mail. The older programs also took names of files for some (`badge_1@2x.png`)."""
    found = []
    for text in row.many(column):
        address = read_address(text)
        if address is not None:
            found.append(str(address))
        else:
            row.mended(f"{column} left out: not an address")
    return tuple(dict.fromkeys(found))
