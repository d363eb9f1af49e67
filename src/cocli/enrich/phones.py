"""Phone numbers of a page, in E.164 by the country of the place: links, marked up data, and text.

In a text many things look like a number: only what is valid in its country counts, and it must be written like a phone
number or stand behind a word that says so, and not behind a word that says it is a tax number or an account.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

import phonenumbers

from cocli.enrich.country import country_of
from cocli.enrich.structured import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.enrich.page import Page

PhoneKind = Literal["phone", "fax", "whatsapp"]
MAX_RUNS = 2_000
_BEFORE = 45

_RUN = re.compile(r"(?<![\w@./#-])(?:\+|\(\+?|\d)[\d ()./\-–‑·]{5,28}\d(?![\w@])")
_PARTS = re.compile(r" ?[/|] ?(?=[+(0])| [-–] (?=[+(0])|  +")
_DATE = re.compile(
    r"\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d\d|(?:19|20)\d\d[./-]\d{1,2}[./-]\d{1,2}|(?:19|20)\d\d ?[-–] ?(?:19|20)\d\d"
)
_NORTH_AMERICAN = re.compile(r"(?:1[ .-]?)?\(?\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4}\Z")
_PHONE_WORD = re.compile(
    r"tel[eé]?(?:fono?|fon|phone|foon|fax)?\b|\bt\b[.:]|phone|\bcall|\bph\b|mobil|\bmob\b|cell|"
    r"handy|natel|\bgsm\b|whats ?app|viber|hotline|telefax|ruf|"
    r"puh\b|puhelin|tlf|тел|моб|τηλ|κιν|電話|电话|전화|điện thoại|"
    r"\bđt\b|\bsđt\b|telefon|iletişim|appel|llám|ligue|"
    r"chiama|fixe|portable|cep\b|\bm\b[.:]|☎|📞|📱|✆|"
    r"contact|kontakt|text us|urgence|notdienst|emergency|office|fax",
    re.IGNORECASE,
)
_FAX_WORD = re.compile(r"fax|факс|φαξ|faks|ファックス|传真", re.IGNORECASE)
_BOTH_WORDS = re.compile(r"tel\w{0,8}[.:]? ?(?:[/&+-]|und|u\.|and|et|y|e|i) ?(?:tele)?fax", re.IGNORECASE)
_OTHER_WORD = re.compile(
    r"\b(?:nip|regon|krs|iban|bic|swift|vat|v\.a\.t|ust|uid|hrb|hra|siret|siren|rcs|tva|p\.? ?iva|partita|c\.?f\.?|"
    r"codice|cif|nif|"
    r"kvk|btw|che|abn|acn|ein|tax|lic|license|licence|licen[sc]e no|cnpj|cpf|rut|afm|y-tunnus|org\.? ?nr|konto|"
    r"kontonr|account|acct|ref|"
    r"isbn|ean|order|ident|steuernummer|steuer|st\.-nr|vergi|mersis|gst|gstin|cin|mst|ma so|adószám|adoszam|"
    r"cégjegyzék\w*|bank\w*|blz|konto-nr|registration|registered|reg|company no|nr|no|№|edrpou|єдрпоу|инн|огрн|кпп|р/с|"
    r"hr ?[ab]|dun|duns|plz|zip|id|invoice|serial|part|model|sku|cnaps|rea|pec|sdi|capitale)\b|α\.?φ\.?μ|γεμη|mã số",
    re.IGNORECASE,
)
_SEQUENCE = re.compile(r"1234567|7654321|(\d)\1{6}")
_FICTION = re.compile(r"\+1(?:\d{3}55501\d\d|555\d{7})\Z")


@dataclass(frozen=True, slots=True)
class PhoneFinding:
    """A number as it stood there, and in E.164."""

    raw: str
    value: str
    kind: PhoneKind
    method: str
    context: str
    position: int
    where: str = "text"


def find_phones(page: Page, country: str | None = None) -> tuple[PhoneFinding, ...]:
    """The numbers of a page, in its order, each once; a number that is both is a phone, not a fax."""
    region = country_of(page, country)
    found: dict[str, PhoneFinding] = {}
    for finding in (*_in_links(page, region), *_in_markup(page, region), *_in_text(page, region)):
        known = found.get(finding.value)
        if known is None or (known.kind == "fax" and finding.kind != "fax" and finding.where == "text"):
            found[finding.value] = finding
    return tuple(sorted(found.values(), key=lambda finding: finding.position))


@lru_cache(maxsize=8192)
def to_e164(raw: str, region: str | None) -> str | None:
    """`089 / 12 34 56` in DE → `+498912 3456` without the space; None for what is no number there, or nobody's."""
    text = re.sub(r"^\(?00", "+", raw.strip())
    if not text or len(text) > 40:
        return None
    try:
        number = phonenumbers.parse(text, region if region in phonenumbers.SUPPORTED_REGIONS else None)
    except phonenumbers.NumberParseException:  # not a number in this country: that is the answer
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    value = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    national = str(number.national_number)
    return None if _SEQUENCE.search(national) or _FICTION.match(value) else value


def _in_links(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    for element in page.links:
        href = element.get("href").strip()
        scheme = href.partition(":")[0].lower()
        if scheme in ("tel", "callto", "fax", "sms", "whatsapp", "viber"):
            raw = _number_of(scheme, href)
        elif "wa.me/" in href or "whatsapp.com/send" in href:
            scheme, raw = "whatsapp", _whatsapp(href)
        else:
            continue
        value = to_e164(raw, region) if raw else None
        if value:
            context = page.context(element.start, element.end)
            label = page.text[max(0, element.start - 12) : element.end]
            is_fax = scheme == "fax" or _FAX_WORD.search(label) is not None
            kind: PhoneKind = "fax" if is_fax else "whatsapp" if scheme == "whatsapp" else "phone"
            yield PhoneFinding(
                raw, value, kind, "tel-link" if scheme != "whatsapp" else "whatsapp", context, element.start, "link"
            )


def _number_of(scheme: str, href: str) -> str:
    if scheme in ("whatsapp", "viber"):
        return _whatsapp(href)
    return unquote(href.partition(":")[2]).split(";")[0].split("?")[0].strip(" /")[:40]


def _whatsapp(href: str) -> str:
    """`https://wa.me/4930…` and `…/send?phone=4930…` are international without saying so."""
    try:
        parts = urlsplit(href)
        query = dict(parse_qsl(parts.query, max_num_fields=50))
    except ValueError:  # not an address that a browser would open
        return ""
    digits = re.sub(r"\D", "", query.get("phone") or query.get("number") or parts.path)[:20]
    return f"+{digits}" if len(digits) > 7 else ""


def _in_markup(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    for fact in facts_of(page):
        if fact.name in ("telephone", "faxnumber", "phone", "tel", "mobile"):
            raw = unquote(fact.value).removeprefix("tel:").strip()[:60]
            value = to_e164(raw, region)
            if value and "review" not in fact.path:
                context = page.context(fact.position, fact.end)
                kind: PhoneKind = "fax" if fact.name == "faxnumber" else "phone"
                yield PhoneFinding(raw, value, kind, fact.method, context, fact.position, "data")


def _in_text(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    text = page.text
    for count, run in enumerate(_RUN.finditer(text)):
        if count >= MAX_RUNS:
            return
        start = run.start()
        for raw in _numbers_in(run[0], region):
            at = text.find(raw, start, run.end())
            value = to_e164(raw, region)
            if value is None or not _is_phone(text, raw, start, region):
                continue
            kind: PhoneKind = "fax" if _nearest(_FAX_WORD, _PHONE_WORD, text, at) else "phone"
            yield PhoneFinding(raw, value, kind, "text", page.context(at, at + len(raw)), at)


def _numbers_in(run: str, region: str | None) -> list[str]:
    run = run.strip(" .-–/·")
    if sum(map(str.isdigit, run)) <= 15 and to_e164(run, region):
        return [run]
    return [part.strip(" .-–/·") for part in _PARTS.split(run) if len(part) > 6]


def _is_phone(text: str, raw: str, start: int, region: str | None) -> bool:
    if _DATE.match(raw):
        return False
    line = text[max(text.rfind("\n", 0, max(0, start - 1)) + 1, start - _BEFORE) : start]
    said = _last_end(_PHONE_WORD, line)
    other = _last_end(_OTHER_WORD, line)
    if said > other or (said >= 0 and said == other):
        return True
    if other >= 0 and other > len(line) - 25:
        return False
    return _looks_like_phone(raw, region)


def _looks_like_phone(raw: str, region: str | None) -> bool:
    """Written as people of the country write numbers, so that no word is needed."""
    if raw.startswith(("+", "(+", "00")):
        return True
    if region in ("US", "CA", "PR"):
        return _NORTH_AMERICAN.match(raw) is not None
    groups = [group for group in re.split(r"\D+", raw) if group]
    if raw.lstrip("(").startswith("0"):
        return len(groups) >= 2 or len(raw) >= 10
    return len(groups) >= 3 and "." not in raw and "/" not in raw


def _nearest(wanted: re.Pattern[str], others: re.Pattern[str], text: str, at: int) -> bool:
    before = text[max(0, at - 30) : at]
    if _BOTH_WORDS.search(before):
        return False
    return _last_end(wanted, before) >= 0 and _last_end(wanted, before) >= _last_end(others, before)


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    end = -1
    for match in pattern.finditer(text):
        end = match.end()
    return end
