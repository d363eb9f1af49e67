"""Names, phones and postcodes as they are compared, never as they are stored: two spellings of one thing give one text.

Built on `identities.normalised`, whose result is frozen because hashes depend on it; what is here may be improved.
"""

from __future__ import annotations

import re
import unicodedata

from cocli.keys.identities import normalised

_LEGAL_FORMS = frozenset([
    "ab", "ag", "aps", "as", "asa", "asi", "bhd", "bt", "bv", "bvba", "cie", "co", "company", "corp", "corporation",
    "ccm", "coop", "cvba", "doo", "dooel", "dba", "eg", "ehf", "ei", "eirl", "eireli", "ek", "enk", "eood", "epe",
    "epp", "eurl", "ev", "fop", "gbr", "gesbr", "gesmbh", "gmbh", "hb", "ike", "inc", "incorporated", "ivs", "jdoo",
    "jsc", "kb", "kda", "kft", "kg", "kgaa", "kk", "kt", "ks", "ky", "lda", "limitada", "limited", "llc", "llp", "lp",
    "ltd", "ltda", "mb", "mbb", "mbh", "me", "mei", "nv", "nyrt", "obrt", "oe", "ofi", "ohg", "ood", "ooo", "ou", "oy",
    "oyj", "pllc", "partg", "partgmbb", "pc", "plc", "pte", "pty", "pvt", "sa", "sagl", "sarl", "sas",
    "sasu", "sca", "scop", "scs", "sdn", "sf", "sia", "sirketi", "sl", "slne", "slp", "slu", "snc", "sp", "spj",
    "spk", "spol", "spolka", "spzoo", "sprl", "srl", "srls", "sro", "sti", "szk", "tbk", "tmi", "tov", "uab", "ug",
    "unipessoal", "vof", "vos", "zao", "zrt", "ао", "ад", "ет", "зао", "еоод", "ип", "оао", "оод", "ооо", "тов", "тоо",
    "фоп", "αε", "βε", "εε", "επε", "ικε", "οε", "मर्यादित", "लिमिटेड", "प्राइवेट", "จํากัด",
])  # fmt: skip
"""Words that a source writes behind a name, or does not. Dropped at the end of a name only: "AG Hairdressers" stays."""

_DOTTED_FORMS = tuple(sorted((
    " s a r l", " sp z o o", " spolka z o o", " spolka z ograniczona odpowiedzialnoscia", " spolka jawna",
    " społka jawna", " społka cywilna", " społka komandytowa", " społka z o o",
    " społka z ograniczona odpowiedzialnoscia", " spolka komandytowa", " spolka cywilna", " sp j", " sp k", " s c",
    " ε π ε", " ι κ ε", " ο ε", " ε ε", " d o o", " j d o o", " d d", " l l c", " l l p", " p c", " p a",
    " p l l c", " s n c", " s a s", " s p a", " s r l", " s r l s", " s r l u", " s r o", " spol s r o", " v o s",
    " o p s", " ltd sti", " san ve tic ltd sti", " san tic ltd sti", " sanayi ve ticaret ltd sti",
    " sanayi ve ticaret limited sirketi", " san ve tic a s", " sanayi ve ticaret a s", " tic ltd sti",
    " ve ticaret ltd sti", " limited sirketi", " anonim sirketi", " ltd sirketi", " s a de c v", " s de r l de c v",
    " sa de cv", " sapi de cv", " s a p i de c v", " de r l de c v", " s c p", " s c", " s l u", " s l p", " c b",
    " s a u", " ges m b h", " m b h", " e g", " e gen", " e v", " e k", " e kfm", " e kfr", " e u", " o u", " i s",
    " a s", " b v", " v o f", " n v", " s a", " s l", " s p", " s f", " α ε", " a d", " e o o d", " o o d",
    " private limited", " pvt ltd", " pty ltd", " pte ltd", " sdn bhd", " p t", " zártkörűen működő rt", " בע מ",
    " ח פ",
), key=len, reverse=True))  # fmt: skip
"""Legal forms with dots, as they come out. A single letter at the end is no legal form: it may tell two halls apart."""

_LEADING_FORMS = (
    "cong ty tnhh mtv ", "cong ty tnhh ", "cong ty co phan ", "cong ty cp ", "cong ty ", "doanh nghiep tu nhan ",
    "pt ", "cv ", "ud ", "uab ", "mb ", "ij ", "sia ", "as ", "ik ", "sarl ", "eurl ", "sasu ", "sas ", "scop ",
    "sc ", "s c ", "pfa ", "p p h u ", "pphu ", "phu ", "fhu ", "f h u ", "тов ", "тоо ", "ооо ", "оао ", "зао ",
    "пао ", "фоп ", "чп ", "пп ", "прат ", "ип ", "ет ", "еад ", "شركة ", "مؤسسة ", "شركه ", "موسسة ", "مجموعة ",
    "주식회사 ", "유한회사 ", "บริษัท ", "หจก ", "ห้างหุ้นส่วนจำกัด ", "m s ",
)  # fmt: skip
"""What stands before the name in some languages."""

_INNER_FORMS = (
    "股份有限公司", "有限责任公司", "有限公司", "株式会社", "有限会社", "合同会社", "合資会社", "医療法人",
    "주식회사", "유한회사", "(주)", "（주）", "(유)", "㈜", "㈱", "㈲", "（株）", "(株)", "（有）", "(有)",
)  # fmt: skip
"""What is written onto the name, before or behind it, where words are not parted."""

_ALWAYS_BEHIND = frozenset(
    ["inh", "inhaber", "inhaberin", "owner", "titolare", "propietario", "eigenaar", "wlasciciel"]
)
"""Words after which a name says whose it is."""

_SHORTEST_PHONE = 6
"""Digits of a number that somebody may share by chance, if there are fewer."""


def comparable_name(name: str) -> str:
    """`Müller & Söhne GmbH` and `MULLER + SOHNE` compare alike. The empty text compares with nothing."""
    bare = _without_inner_forms(name).replace("'", "").replace("\u2019", "")
    text = _letters(_without_marks(_with_whole_abbreviations(bare)))
    text = _without_form(text)
    words = [word for word in text.split() if word not in ("and", "und", "et")]
    owned = next((place for place, word in enumerate(words) if place and word in _ALWAYS_BEHIND), len(words))
    words = words[:owned]
    while len(words) > 1 and words[-1] in _LEGAL_FORMS:
        words.pop()
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    return " ".join(words)


_ABBREVIATION = re.compile(r"\b([^\W\d_]{1,4})\.([^\W\d_]{2,4})\b")
_BRANCH = re.compile(r"[(（][^()（）]{1,12}[店점][)）]\s*\Z")


def _with_whole_abbreviations(name: str) -> str:
    """`Dott.ssa` and `F.lli` are one word each; `firm.de` alone is a domain."""
    if "." in name and " " in name.strip():
        return _ABBREVIATION.sub(r"\1\2", name)
    return name


def _letters(text: str) -> str:
    """As `normalised`, but Thai and the scripts of India keep the marks that their vowels are."""
    if not any("\u0900" <= letter <= "\u0fff" for letter in text):
        return normalised(text)
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(letter if is_letter(letter) else " " for letter in folded).split())


def is_letter(letter: str) -> bool:
    """A letter, a digit, or a mark that belongs to one."""
    return letter.isalnum() or unicodedata.category(letter) in ("Mn", "Mc")


def _without_form(text: str) -> str:
    for form in _DOTTED_FORMS:
        if text.endswith(form):
            text = text.removesuffix(form)
            break
    for form in _LEADING_FORMS:
        if text.startswith(form):
            return text.removeprefix(form)
    return text


def _without_inner_forms(name: str) -> str:
    if name.isascii():
        return name
    bare = name
    for form in _INNER_FORMS:
        bare = bare.replace(form, " ")
    bare = _BRANCH.sub("", bare)
    return bare if bare.strip() else name


def comparable_phone(e164: str | None, phone: str | None = None) -> str:
    """The digits of a number, in E.164 where it is known: without its plus, a national one without its zeros."""
    digits = "".join(digit for digit in e164 or phone or "" if digit in "0123456789")
    return digits.lstrip("0")


def is_same_phone(phone: str, other: str) -> bool:
    """Whether two comparable numbers are one: a national number is the end of the international one."""
    shorter = min(len(phone), len(other))
    return shorter >= _SHORTEST_PHONE and (phone.endswith(other) or other.endswith(phone))


def comparable_postcode(postcode: str | None) -> str:
    """`1011 AB`, `1011AB` and `90001-1234` (whose tail says which side of the street) compare as they should."""
    text = (postcode or "").strip()
    head, dash, tail = text.partition("-")
    if dash and len(head) == 5 and head.isdigit() and len(tail) == 4 and tail.isdigit():
        text = head
    return normalised(text).replace(" ", "")


def _without_marks(text: str) -> str:
    """`é` → `e`: one source has the accents, another has lost them. Other scripts keep their letters."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not ("\u0300" <= c <= "\u036f"))
