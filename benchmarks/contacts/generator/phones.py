"""Numbers on a page: whose they are, and in what form they stand there."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from html import escape
from urllib.parse import quote

from benchmarks.contacts.generator.draft import Draft
from benchmarks.contacts.generator.words import international, national

_PLACEHOLDERS = ("+18005551234", "123456789", "+1234567890", "0000000000", "+4912345678", "555-555-5555")


def add(draft: Draft, what: str, where: str) -> None:
    if what == "placeholder":
        _placeholder(draft)
        return
    number = draft.number(mobile=draft.random.random() < 0.25 and what != "national")
    draft.truth.phones["thirdparty" if what in ("dpo", "registry") else "must"].append(number)
    if what == "conflict":
        _conflict(draft, number)
    elif what == "national":
        draft.body.append(draft.line("phone", escape(national(number))))
    elif what in ("dpo", "registry"):
        draft.body.append(draft.line(what, f"{draft.label('phone')} {escape(_shown(draft, number))}"))
    else:
        _FORMS[where](draft, number)


def _shown(draft: Draft, number: str) -> str:
    return draft.random.choice((national, international))(number)


def _placeholder(draft: Draft) -> None:
    """What a template had in its link, under a word and no number."""
    number = draft.random.choice(_PLACEHOLDERS)
    draft.body.append(draft.look.link(f"tel:{number}", draft.label("phone")))
    draft.truth.phones["reject"].append(number)


def _conflict(draft: Draft, number: str) -> None:
    """The link still calls whoever had the page before."""
    other = draft.number()
    draft.truth.phones["reject"].append(other)
    draft.body.append(draft.line("phone", draft.look.link(f"tel:{other}", escape(_shown(draft, number)))))


def _text(draft: Draft, number: str) -> None:
    draft.body.append(draft.line("phone", escape(_shown(draft, number))))


def _link(draft: Draft, number: str) -> None:
    draft.body.append(draft.line("phone", draft.look.link(f"tel:{number}", escape(_shown(draft, number)))))


def _footer(draft: Draft, number: str) -> None:
    draft.footer.append(f"{draft.label('phone')} {escape(_shown(draft, number))}")


def _alt(draft: Draft, number: str) -> None:
    text = f"{draft.say('phone')} {_shown(draft, number)}"
    draft.body.append(f'<img src="/img/call-banner@2x.png" width="320" height="60" alt="{escape(text)}">')


def _vcard(draft: Draft, number: str) -> None:
    card = f"BEGIN:VCARD\nVERSION:3.0\nFN:{draft.firm}\nTEL;TYPE=WORK:{number}\nEND:VCARD\n"
    data = draft.random.choice(
        (
            f"data:text/vcard;charset=utf-8,{quote(card, safe='')}",
            f"data:text/vcard;base64,{base64.b64encode(card.encode()).decode()}",
        )
    )
    draft.body.append(f'<a download="contact.vcf" href="{data}">vCard</a>')


def _state(draft: Draft, number: str) -> None:
    state = {"page": {"slug": "home", "blocks": [{"type": "cta", "phone": international(number), "order": 20261130}]}}
    draft.body.append(f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(state)}</script>')


def _json_ld(draft: Draft, number: str) -> None:
    draft.graph["telephone"] = draft.random.choice((number, international(number)))


def _element(draft: Draft, number: str) -> None:
    draft.body.append(draft.look.address([f"{draft.label('phone')} {escape(_shown(draft, number))}"]))


_FORMS: dict[str, Callable[[Draft, str], None]] = {
    "text": _text,
    "link": _link,
    "footer": _footer,
    "alt": _alt,
    "vcard": _vcard,
    "state": _state,
    "json-ld": _json_ld,
    "element": _element,
}
