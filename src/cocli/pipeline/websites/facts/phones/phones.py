"""Phone numbers of a page, in E.164 by the country of the place: links, marked up data, and text.

In a text many things look like a number: only what is valid in its country counts, and it must be written like a phone
number or stand behind a word that says so, and not behind a word that says it is a tax number or an account.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

import phonenumbers

from cocli.pipeline.websites.facts.blocks import is_said_on_line, owner_of_block
from cocli.pipeline.websites.facts.country import country_of
from cocli.pipeline.websites.facts.credits import is_credit
from cocli.pipeline.websites.facts.identity import identity_of, plain
from cocli.pipeline.websites.facts.phones.links import in_cards, in_links, in_markup, in_state
from cocli.pipeline.websites.facts.phones.number import (
    AMERICA,
    NORTH_AMERICAN,
    SIGNS,
    PhoneFinding,
    PhoneKind,
    is_placeholder,
    numbers_in,
    to_e164,
)
from cocli.pipeline.websites.facts.phones.words import BOTH, CALL, FAX, FAX_AFTER, FAX_LETTER, OTHER, PHONE
from cocli.pipeline.websites.page.digits import groups_of_digits
from cocli.pipeline.websites.page.kind import kind_of
from cocli.pipeline.websites.page.languages import either

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.models.website import PhoneRelation
    from cocli.pipeline.websites.page.page import Page

__all__ = ["PhoneFinding", "PhoneFindings", "PhoneKind", "find_phones", "read_phones", "to_e164"]

MAX_RUNS = 2_000
MAX_ALTERNATIVE = 200
_IMAGES = frozenset(("img", "area", "input"))
_FEWEST_IN_IMAGE = 7
_CREDIT_CHARS = 100
_REACH = 80
_BEFORE = 45
_LETTER = r"A-Za-z0-9_\u00c0-\u024f"
_REST_OF_RUN = rf"\+?[\d ()./\-\u2010-\u2015\u2212·•∙]{{5,70}}\d(?:(?![{_LETTER}@])|(?=x ?\d|ext|[A-Z][a-z]))"
_RUN = re.compile(rf"[+(\d](?:(?<![{_LETTER}@./#-].)|(?<=[Tt]el.)|(?<=TEL.)|(?<=[Ff]ax.)|(?<=FAX.)){_REST_OF_RUN}")
"""Letters of other scripts may stand right beside a number, those of ours do not."""
_RUN_OF_ELEMENT = re.compile(rf"[+(\d]{_REST_OF_RUN}")
"""… unless an element begins between them: `<b>Telefon</b><span>030 23125042</span>`."""
_BETWEEN = "+ ()./-\u2010\u2011\u2012\u2013\u2014\u2015\u2212·•∙"
"""All that may stand between the digits of a run, and before the first of them."""
_FEWEST_DIGITS = 4
"""There are countries with numbers as short as this."""
_LOOKS_AHEAD = 3
"""Characters after a run that its pattern looks at."""
_DATE = re.compile(
    r"\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d\d|(?:19|20)\d\d[./-]\d{1,2}[./-]\d{1,2}|(?:19|20)\d\d ?[-–] ?(?:19|20)\d\d|"
    r"(?:\d{1,2} )?\d{1,2} (?:19|20)\d\d\Z|\d{1,2}[.:]\d\d ?[-–] ?\d{1,2}[.:]\d\d(?!\d)"
)
_VANITY = re.compile(
    r"(?<![\w.-])(?:1[ .-])?\(?([2-9]\d\d)[).-]{1,2} ?((?=[\d-]{0,9}[A-Z]{3})[A-Z\d]{2,10}(?:-[A-Z\d]{1,10})?)(?![\w-])"
)
_KEYS = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999", strict=True))
_LOCAL_DIGITS = 7
_AREA_DIGITS = 3
_AFTER_AREA = (")", ".", "-")
_BEFORE_AREA = len("1-(")
_DIGITS = re.compile(r"\d{3}")
_NUMBER_OF = re.compile(rf"\W{{0,3}}(?:{either('phone.number_of')})\W{{0,2}}", re.IGNORECASE)
"""`Tel. Nr.`: a word that other numbers have, too, said of this one."""
_ANOTHER_WORD = re.compile(rf"\d{{3}}[^\w\n]{{1,4}}(?!(?:{either('phone.next')})\b)[^\W\d_]{{2,}}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PhoneFindings:
    """The numbers of a page, in its order, each once."""

    found: tuple[PhoneFinding, ...] = ()
    """The company's, in E.164; a number that is both is a phone, not a fax."""
    others: tuple[PhoneFinding, ...] = ()
    """Those of others, with whose they are; and what stands there for the company's, of a country that is not known."""


def find_phones(page: Page, country: str | None = None) -> tuple[PhoneFinding, ...]:
    """The company's numbers."""
    return read_phones(page, country).found


def read_phones(page: Page, country: str | None = None) -> PhoneFindings:
    """All numbers of a page, parted by whose they are."""
    region = country_of(page, country)
    # What a notice on privacy says of companies abroad, whose services the site uses.
    abroad = region if kind_of(page.url, page.title) == "privacy" else None
    found: dict[str, PhoneFinding] = {}
    others: dict[str, PhoneFinding] = {}
    for finding in _all(page, region):
        if (relation := _relation(page, finding, abroad)) is not None:
            others.setdefault(finding.value, replace(finding, relation=relation))
            continue
        known = found.get(finding.value)
        if known is None or (known.kind == "fax" and _is_said_to_ring(page, finding)):
            conflict = finding.conflict or (known.conflict if known else None)
            found[finding.value] = replace(finding, conflict=conflict) if conflict else finding
    found |= _only_ones(page, others) if not found else {}
    if not found and not others:
        found = {finding.value: finding for finding in in_state(page, region)}
    for value in found:
        others.pop(value, None)
    if region is None:
        others |= {finding.key: finding for finding in in_no_country(page)}
    return PhoneFindings(_in_order(found), _in_order(others))


def _only_ones(page: Page, others: dict[str, PhoneFinding]) -> dict[str, PhoneFinding]:
    """Numbers below a line on privacy that has its contact already: the company's, where it has no other."""
    if kind_of(page.url, page.title) == "privacy":
        return {}
    below = (finding for finding in others.values() if finding.relation == "officer" and finding.where != "data")
    return {
        finding.value: replace(finding, relation=None)
        for finding in below
        if "@" in page.before(finding.position, _REACH) and not is_said_on_line(page, finding.position)
    }


def _in_order(findings: dict[str, PhoneFinding]) -> tuple[PhoneFinding, ...]:
    return tuple(sorted(findings.values(), key=lambda finding: finding.position))


def _all(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    yield from in_links(page, region)
    yield from in_cards(page, region)
    yield from in_markup(page, region)
    yield from _in_text(page, region)
    yield from _in_alternatives(page, region)


def _relation(page: Page, finding: PhoneFinding, home: str | None) -> PhoneRelation | None:
    """Whose a number is, where it is not the company's."""
    if identity_of(page).copied:
        return "copied"
    if finding.where == "data":
        return None
    owner = owner_of_block(page, finding.position)
    if owner is not None:
        return owner
    if _is_abroad(finding, home):
        return "abroad"
    line = page.before(finding.position, _CREDIT_CHARS).rpartition("\n")[2]
    if is_credit(line) and not any(len(name) > 4 and name in plain(line) for name in identity_of(page).names):
        return "agency"
    return None


def _in_alternatives(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    """An image whose alternative text is or has the number that it shows."""
    for element in page.by_attribute.get("alt", ())[:MAX_RUNS]:
        text = element.get("alt")[:MAX_ALTERNATIVE]
        if element.tag not in _IMAGES or sum(map(str.isdigit, text)) < _FEWEST_IN_IMAGE:
            continue
        for run in _RUN.finditer(text):
            for raw in numbers_in(run[0], region):
                value = to_e164(raw, region)
                at = text.index(raw)
                if value is not None and _is_phone(text, raw, at, region):
                    kind = _kind(text, at, at + len(raw))
                    yield PhoneFinding(raw, value, kind, "attribute", text, element.start, "attribute")


def in_no_country(page: Page) -> Iterator[PhoneFinding]:
    """National numbers of a page whose country nothing tells: as they stand there, where a link or a word says so."""
    for element in page.links:
        href = element.get("href").strip()
        raw = unquote(href[4:]).strip(" /")[:40] if href[:4].lower() == "tel:" else ""
        if _is_national(raw):
            context = page.context(element.start, element.end)
            yield PhoneFinding(raw, "", "phone", "tel-link", context, element.start, "link")
    for _, run in zip(range(MAX_RUNS), _runs(page), strict=False):
        raw, at = run[0].strip(), run.start()
        line = page.text[max(page.text.rfind("\n", 0, at) + 1, at - _BEFORE) : at]
        said = _last_end(PHONE, line)
        if said >= 0 and said > _last_end(OTHER, line) and _is_national(raw) and not _DATE.match(raw):
            yield PhoneFinding(raw, "", _kind(page.text, at, run.end()), "text", page.context(at, run.end()), at)


def _is_national(raw: str) -> bool:
    digits = "".join(filter(str.isdigit, raw))
    return raw[:1] in "0123456789(" and raw != "" and 6 <= len(digits) <= 12 and not is_placeholder(digits)


def _is_abroad(finding: PhoneFinding, home: str | None) -> bool:
    if home is None or finding.where != "text":
        return False
    code = phonenumbers.country_code_for_region(home)
    return code != 0 and not finding.value.startswith(f"+{code}")


def _is_said_to_ring(page: Page, finding: PhoneFinding) -> bool:
    if finding.kind == "fax" or finding.where != "text":
        return False
    return (
        _nearest(CALL, FAX, page.text, finding.position) or BOTH.search(page.before(finding.position, 30)) is not None
    )


def _in_text(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    text = page.text
    for count, run in enumerate(_runs(page)):
        if count >= MAX_RUNS:
            return
        at = run.start()
        for raw in numbers_in(run[0], region):
            at = text.index(raw, at)
            value = to_e164(raw, region)
            if value is not None and _is_phone(text, raw, at, region):
                yield _finding(page, raw, value, at)
            at += len(raw)
    if region in AMERICA:
        yield from _vanity_numbers(page, region)


def _runs(page: Page) -> Iterator[re.Match[str]]:
    """What `_RUN` finds in a text, as far as it has the digits of a number: they are looked for first, and fast."""
    text = page.text
    for start, end in groups_of_digits(text, page.digits, _BETWEEN, _FEWEST_DIGITS):
        reach = end + _LOOKS_AHEAD
        if text[end : end + 1].isalpha() and _is_edge(page, end):
            reach = end
        if text[start - 1 : start].isalpha() and _is_edge(page, start):
            yield from _RUN_OF_ELEMENT.finditer(text, start, reach)
        else:
            yield from _RUN.finditer(text, start, reach)


def _is_edge(page: Page, position: int) -> bool:
    """Whether an element begins or ends here."""
    return bool(page.boundaries_within(position - 1, position + 1))


def _finding(page: Page, raw: str, value: str, at: int) -> PhoneFinding:
    end = at + len(raw)
    return PhoneFinding(raw, value, _kind(page.text, at, end), "text", page.context(at, end), at)


def _vanity_numbers(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    """`1-800-FLOWERS`: letters for digits. What is too long is not dialled to its end."""
    for _, match in zip(range(MAX_RUNS), _vanities(page), strict=False):
        digits = "".join(_KEYS.get(sign, sign) for sign in match[2] if sign != "-")
        value = None
        if len(digits) >= _LOCAL_DIGITS:
            value = to_e164(match[1] + digits[:_LOCAL_DIGITS], region)
        if value:
            yield _finding(page, match[0], value, match.start())


def _vanities(page: Page) -> Iterator[re.Match[str]]:
    """What `_VANITY` finds: it begins shortly before three digits."""
    text, done = page.text, 0
    for start, end in page.digits:
        if end - start == _AREA_DIGITS and start >= done and text[end : end + 1] in _AFTER_AREA:
            places = range(max(done, start - _BEFORE_AREA), start + 1)
            match = next((found for place in places if (found := _VANITY.match(text, place))), None)
            if match is not None:
                done = match.end()
                yield match


def _kind(text: str, start: int, end: int) -> PhoneKind:
    if FAX_LETTER.search(text, max(0, start - 30), start) or _nearest(FAX, PHONE, text, start):
        return "fax"
    line_start = max(text.rfind("\n", 0, start) + 1, start - 30)
    if FAX_AFTER.match(text, end) and not CALL.search(text, line_start, start):
        return "fax"
    return "phone"


def _is_phone(text: str, raw: str, start: int, region: str | None) -> bool:
    if _DATE.match(raw):
        return False
    line = text[max(text.rfind("\n", 0, max(0, start - 1)) + 1, start - _BEFORE) : start]
    said = _last_end(PHONE, line)
    other = _last_end(OTHER, line)
    if said > other or (said >= 0 and said == other):
        return True
    if said >= 0 and _NUMBER_OF.fullmatch(line, said, other):
        return True
    if other >= 0 and other > len(line) - 25:
        return False
    return _looks_like_phone(raw.translate(SIGNS), region)


def _looks_like_phone(raw: str, region: str | None) -> bool:
    """Written as people of the country write numbers, so that no word is needed."""
    if raw.startswith(("+", "(+", "00")):
        return True
    if region in AMERICA:
        return NORTH_AMERICAN.fullmatch(raw) is not None
    groups = [group for group in re.split(r"\D+", raw) if group]
    if raw.lstrip("(").startswith("0"):
        return len(groups) >= 2 or len(raw) >= 10
    return len(groups) >= 3 and "." not in raw and "/" not in raw


def _nearest(wanted: re.Pattern[str], others: re.Pattern[str], text: str, at: int) -> bool:
    before = text[max(0, at - 30) : at]
    if BOTH.search(before):
        return False
    above, _, line = before.rpartition("\n")
    if _DIGITS.search(above):
        before = line  # what the line above says, it says of the number there
    said = _last_end(wanted, before)
    # Behind a number and another word, it was said of the number before.
    return said >= 0 and said >= _last_end(others, before) and not _ANOTHER_WORD.search(before, said)


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    end = -1
    for match in pattern.finditer(text):
        end = match.end()
    return end
