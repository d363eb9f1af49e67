"""A value is found however it is written: in other letters, with escapes, in the name of a file, below its domain."""

from __future__ import annotations

import html
import json
import unicodedata
from datetime import UTC, datetime
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.app.left_alone.suppress import entry_of
from cocli.pipeline.suppression.listing import SuppressionList
from cocli.pipeline.suppression.scrub import MARK, Scrubber
from cocli.pipeline.suppression.subject import read_subject

ADDRESS, NUMBER, DOMAIN = "quiet.jo@plumb.example", "+12175550177", "hushed.example"
UMLAUT, IDN, BERLIN = "jürgen@müller.example", "bücher.example", "+49 30 1234567"
QUOTED = '"Jane Doe"@plumb.example'
VALUES = (ADDRESS, NUMBER, DOMAIN, UMLAUT, IDN, BERLIN, QUOTED)
SUBJECTS = [read_subject(value, kind=None, country=None) for value in VALUES]


def _list(*, hashed: bool) -> SuppressionList:
    """With the values, or with nothing but their hashes."""
    now = datetime(2026, 11, 17, tzinfo=UTC)
    return SuppressionList([entry_of(subject, now, forgotten=hashed) for subject in SUBJECTS])


LISTS = {"values": Scrubber(_list(hashed=False)), "hashes": Scrubber(_list(hashed=True))}


def _wide(text: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)


WRITTEN = (
    "QUIET.JO@Plumb.Example", "quiet.jo+news@plumb.example", "quiet.jo%40plumb%2Eexample", "quiet.jo&#64;plumb.example",
    "".join(f"&#{ord(sign)};" for sign in ADDRESS), _wide(ADDRESS), "quiet.jo＠plumb.example",
    "quiet\u00ad.jo@plumb\u200b.example", "quiet.jo\\u0040plumb.example", "quiet.jo@plumb.example.pdf",
    "<quiet.jo@plumb.example>,", "mailto:quiet.jo@plumb.example?subject=x", "x=quiet.jo@plumb.example",
    "(217) 555-0177", "217.555.0177", "+1-217-555-0177", "001 217 555 0177", "tel:+12175550177",
    "217\u00a0555\u00a00177",
    "217\u2009555\u20090177", _wide("217 555 0177"), "217&#45;555&#45;0177", "217\t555\t0177", "217-555-0177x12",
    "217 555 0177 ext. 5", "2\u200b175550177",
    "https://www.hushed.example/x", "a.b.HUSHED.example:8080", "info@mail.hushed.example", "hushed.example.html",
    "hushed。example", _wide(DOMAIN), "hushed&period;example", "hushed%2Eexample",
    UMLAUT.upper(), unicodedata.normalize("NFD", UMLAUT), "jürgen@xn--mller-kva.example", quote(UMLAUT),
    "j&uuml;rgen@m&uuml;ller.example", json.dumps(UMLAUT)[1:-1], "".join(f"&#{ord(sign)};" for sign in UMLAUT),
    "www.xn--bcher-kva.example", unicodedata.normalize("NFD", IDN), quote(IDN), "b&uuml;cher.example",
    QUOTED, '"jane  doe+x"@PLUMB.example', r"\"jane doe\"@plumb.example", r'\\\"jane doe\\\"@plumb.example',
    '""Jane Doe""@plumb.example', "%22jane%20doe%22%40plumb.example", "&quot;jane doe&quot;&#64;plumb.example",
    "&quot;jane&nbsp;doe&quot;@plumb.example", r"\u0022jane doe\u0022@plumb.example", '"quiet.jo"@plumb.example',
    '"anybody at all"@hushed.example', _wide('"jane') + " " + _wide('doe"@plumb.example'),
    "217_555_0177", "+1_217_555_0177", "call_2175550177.txt", "2026_11_17_217_555_0177_2", "a_+12175550177_b",
    "030_1234567", "030 1234567", "+49 (0)30 1234567", "0049 30 1234567", "(030) 123 45 67", "030/1234567",
)  # fmt: skip
OTHERS = (
    "loud.jo@plumb.example", "quiet.jo@plumb.example.org", "xhushed.example", "hushed.example.org", "217 555 0178",
    "quiet.jo@mail.plumb.example", "2175550177001", "mueller.example", "100 % sure &amp; 50 %", "M&Ms",
    "bucher.example", '"jane roe"@plumb.example', "jane doe@plumb.example", '"jane" "doe"@plumb.example',
    "217_555_0178", "2026_11_17", "x217_555_0177y", "39.8_-89.7_plumber",
)  # fmt: skip


@pytest.mark.parametrize("scrubber", LISTS)
@pytest.mark.parametrize("written", WRITTEN)
def test_it_is_found_however_it_is_written(scrubber: str, written: str) -> None:
    text = LISTS[scrubber].text(f"Mail or call: {written} – thank you")
    assert MARK in text
    assert text.startswith("Mail or call: ")
    assert text.endswith(" – thank you")
    assert not LISTS[scrubber].finds(text), "and once is enough"


@pytest.mark.parametrize("scrubber", LISTS)
@pytest.mark.parametrize("text", OTHERS)
def test_others_stay(scrubber: str, text: str) -> None:
    assert LISTS[scrubber].text(f"Grüße, {text}!") == f"Grüße, {text}!"


_FORMS = (
    lambda sign: sign,
    lambda sign: f"&#{ord(sign)};",
    lambda sign: f"&#x{ord(sign):x};",
    lambda sign: quote(sign, safe="").replace(sign, f"%{ord(sign):02X}") if ord(sign) < 128 else quote(sign),
    lambda sign: f"\\u{ord(sign):04x}",
    _wide,
    lambda sign: f"{sign}\u00ad",
    str.upper,
)


def _read(text: str) -> str:
    """What a reader sees, by other means than the product's."""
    seen = text.replace("\u00ad", "")
    seen = html.unescape(unquote(seen.replace("\\u", "\\\\u").replace("\\\\u", "\\u")))
    for code in range(0x20, 0x250):
        seen = seen.replace(f"\\u{code:04x}", chr(code))
    return unicodedata.normalize("NFKC", seen).lower()


@given(
    st.sampled_from((ADDRESS, UMLAUT, DOMAIN, IDN)),
    st.lists(st.sampled_from(range(len(_FORMS))), min_size=22, max_size=22),
    st.sampled_from(sorted(LISTS)),
)
def test_no_mixture_of_spellings_gets_through(value: str, forms: list[int], scrubber: str) -> None:
    written = "".join(_FORMS[form](sign) for form, sign in zip(forms, value, strict=False))
    text = LISTS[scrubber].text(f'<a title="{written}">')
    assert value not in _read(text), written


def test_records_are_compared_by_what_is_meant() -> None:
    listed = _list(hashed=True)
    assert listed.email(unicodedata.normalize("NFD", UMLAUT))
    assert listed.email(_wide(ADDRESS))
    assert listed.host(unicodedata.normalize("NFD", f"www.{IDN}"))
    assert listed.phone(_wide("(217) 555-0177"))
    assert listed.phone("٢١٧٥٥٥٠١٧٧")
    assert listed.phone("(217) 555-0177 ext. 5")
    assert not listed.phone("(217) 555-0178")
