"""A value by which somebody is known, in the form in which it is compared: one person's spelling is another's."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from cocli.errors import IdentityError, UsageError
from cocli.keys.identities import cid_from_place_id, is_place_id, place_id_from_feature_id, registrable_domain
from cocli.models.left_alone.suppression import SubjectKind
from cocli.pipeline.comparison import comparable_name

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS: tuple[SubjectKind, ...] = get_args(SubjectKind)
_HASH16 = re.compile(r"[0-9a-f]{16}\Z")
_FEATURE = re.compile(r"0x[0-9a-f]{1,16}:0x[0-9a-f]{1,16}\Z", re.IGNORECASE)
_CID = re.compile(r"(?:cid:|https?://(?:maps|www)\.google\.[a-z.]+/(?:maps)?\?cid=)?([0-9]{15,20})\Z")
_PHONE = re.compile(r"(?:tel:)?\+?[0-9(][0-9 ()./\-]{4,}[0-9]\Z")
_HOST = re.compile(r"(?:https?://)?(?:[^\s/@.]+\.)+[^\s/@.]{2,63}(?:[/:?#]\S*)?\Z")
_QUOTED = re.compile(r"\"([^\"@]+)\"")
_HINT = "Say what it is: --kind email, phone, domain, company (its hash), place or name."


@dataclass(frozen=True, slots=True)
class Subject:
    """A value in its normal form."""

    kind: SubjectKind
    value: str
    calling_code: str | None = None

    def digest(self, salt: str | None = None) -> str:
        """The SHA-256 of the value, with the salt before it: `printf %s jo@firm.example | sha256sum` makes it, too."""
        return hashlib.sha256(f"{salt or ''}{self.value}".encode()).hexdigest()


def read_subject(text: str, *, kind: str | None = None, country: str | None = None) -> Subject:
    """What a person wrote. `country` is where a phone number without a country is from."""
    text = text.strip()
    if kind is not None and kind not in KINDS:
        raise UsageError(reason=f'"{kind}" is no kind of value', hint=_HINT)
    for possible in _readings(text, country):
        if possible.value and kind in (None, possible.kind):
            return possible
    if kind == "name" and (name := comparable_name(text)):
        return Subject("name", name)  # only where it is said: a slip in an address must not become a name
    reason = f'"{text}" is no {kind}' if kind else f'"{text}" is neither an address, a number, a domain nor an id'
    raise UsageError(reason=reason, hint=_HINT)


def _readings(text: str, country: str | None) -> Iterator[Subject]:
    yield Subject("email", normal_email(text.removeprefix("mailto:")))
    for place in normal_places(text):
        yield Subject("place", place)
    if _HASH16.match(text):
        yield Subject("company", text)
    if _PHONE.match(text) and (number := normal_phone(text, country)) is not None:
        yield Subject("phone", *number)
    if _HOST.match(text) and "@" not in text:
        yield Subject("domain", normal_domain(text))


def normal_email(text: str) -> str:
    """`Jo.Doe+News@Münze.Example` → `jo.doe@xn--mnze-0ra.example`; empty for what is none. Only where a local part
    needs them it keeps its quotes: `"jane doe"@firm.example`."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    local, at, host = text.strip().lower().rpartition("@")
    quoted = _QUOTED.fullmatch(local)
    local = " ".join(quoted[1].split()) if quoted else local
    local = local.partition("+")[0] or local
    host = ascii_host(host.strip(".")) if at else ""
    has_space = any(sign.isspace() for sign in local)
    if not at or not local or "." not in host or any(sign.isspace() for sign in host) or (has_space and not quoted):
        return ""
    return f'"{local}"@{host}' if has_space else f"{local}@{host}"


def normal_domain(text: str) -> str:
    """The name that somebody registered; empty for what has none."""
    try:
        return registrable_domain(text.strip().removeprefix("www."))
    except IdentityError:
        return ""


def normal_phone(text: str, country: str | None) -> tuple[str, str] | None:
    """E.164 and the calling code; None for what is no number, or could be one of any country."""
    import phonenumbers  # the rules of every country: only where a number is read

    text = re.sub(r"^(?:tel:)?\(?00", "+", text.strip())
    try:
        number = phonenumbers.parse(text.removeprefix("tel:"), country)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164), str(number.country_code)


def normal_places(text: str) -> list[str]:
    """The forms under which a place is compared: its place id, or only its customer id where that is all there is."""
    if is_place_id(text):
        return [text]
    if _FEATURE.match(text):
        try:
            return [place_id_from_feature_id(text)]
        except IdentityError:
            return [f"cid:{int(text.rpartition('0x')[2], 16)}"]
    found = _CID.match(text)
    return [f"cid:{found[1]}"] if found else []


def place_forms(text: str) -> list[str]:
    """Every form under which a place that was met may be listed."""
    forms = normal_places(text)
    for form in tuple(forms):
        if form.startswith("ChIJ"):
            forms.append(f"cid:{cid_from_place_id(form)}")
    return forms


def ascii_host(host: str) -> str:
    if host.isascii():
        return host
    import idna  # a table of 200 kB: only for the names that need it

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        return host  # no name that could be registered: it is compared as it stands


def subject_kind(text: str) -> SubjectKind:
    if text not in KINDS:
        raise UsageError(reason=f'"{text}" is no kind of value', hint=_HINT)
    return text
