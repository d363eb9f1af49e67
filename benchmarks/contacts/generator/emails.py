"""Addresses on a page: whose they are, and in what form they stand there."""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from benchmarks.contacts.generator.draft import Draft

_GENERAL = ("info", "office", "mail", "contact", "hello")
_FREEMAIL = ("gmail.com", "outlook.com", "hotmail.com", "yahoo.com", "gmx.net")
_AGENCIES = (
    "pixelwerk-studio",
    "blauwelle-media",
    "webatelier-nova",
    "kodekraft",
    "sitesmith-lab",
    "formpunkt-digital",
)
_PEOPLE = ("anna.berg", "j.novak", "mia.lund", "t.keller", "paul.roth", "e.marin")
_WATCHERS = ("datawatch-partner", "privacyline-expert")
_PLACEHOLDERS = ("name@example.com", "you@yourdomain.com", "email@domain.com", "john.doe@example.org")


@dataclass(frozen=True, slots=True)
class Mail:
    """An address, and whose it is."""

    what: str
    address: str


def add(draft: Draft, what: str, where: str) -> None:
    mail = Mail(what, _address(draft, what))
    _note(draft, what, mail.address)
    _FORMS[where](draft, mail)


def _address(draft: Draft, what: str) -> str:
    random, stem = draft.random, draft.domain.partition(".")[0]
    if what == "person":
        return f"{_person(draft)[1]}@{draft.domain}"
    hosts: dict[str, Callable[[], str]] = {
        "own": lambda: f"{random.choice(_GENERAL)}@{draft.domain}",
        "provider": lambda: f"{stem}@{draft.say('mailboxes')}",
        "parent": lambda: f"{stem.split('-')[0][:14]}@{draft.say('parent')}",
        "second": lambda: f"{random.choice(_GENERAL)}@{_second_domain(draft)}",
        "freemail": lambda: f"{stem}@{random.choice(_FREEMAIL)}",
        "credit": lambda: f"{random.choice(_GENERAL)}@{_agency(draft)}.{_suffix(draft)}",
        "credit-freemail": lambda: f"{random.choice(_PEOPLE).replace('.', '')}.web@{random.choice(_FREEMAIL)}",
        "dpo": lambda: f"{random.choice(('dpo', 'privacy', 'office'))}@{random.choice(_WATCHERS)}.eu",
        "placeholder": lambda: random.choice(_PLACEHOLDERS),
    }
    return hosts[what]()


def _person(draft: Draft) -> tuple[str, str]:
    """Whom the page has not named yet, and the name as it stands before the @: given, or without its accents."""
    taken = {person["name"] for person in draft.truth.people}
    every = [person.partition("=") for person in draft.words.every("people")]
    name, _, local = next(person for person in every if person[0] not in taken)
    plain = unicodedata.normalize("NFKD", name.replace("ø", "o").replace("đ", "d").replace("ł", "l").replace("ı", "i"))
    return name, local or ".".join(re.sub(r"[^a-z ]", "", plain.lower()).split())


def _second_domain(draft: Draft) -> str:
    """Another domain of the firm, of which nothing but the contact context says so."""
    initials = "".join(part[0] for part in draft.domain.partition(".")[0].split("-") if part)
    head = draft.random.choice(("werkhof", "atelier24", "oldtownshop", "casa7", "studio11"))
    return f"{head}{initials}.{_suffix(draft)}"


def _suffix(draft: Draft) -> str:
    return draft.domain.rpartition(".")[2]


def _agency(draft: Draft) -> str:
    return draft.random.choice(_AGENCIES)


def _note(draft: Draft, what: str, address: str) -> None:
    emails = draft.truth.emails
    if what in ("credit", "credit-freemail", "dpo"):
        emails["thirdparty"].append(address)
    elif what == "placeholder":
        emails["reject"].append(address)
    else:
        emails["must"].append(address)
        if what != "person":
            draft.truth.primary.append(address)


def _topic(what: str) -> str:
    return "dpo" if what == "dpo" else "mail"


def _text(draft: Draft, mail: Mail) -> None:
    draft.body.append(draft.line(_topic(mail.what), escape(mail.address)))


def _link(draft: Draft, mail: Mail) -> None:
    draft.body.append(draft.line(_topic(mail.what), draft.look.link(f"mailto:{mail.address}", escape(mail.address))))


def _footer(draft: Draft, mail: Mail) -> None:
    draft.footer.append(draft.look.link(f"mailto:{mail.address}", escape(mail.address)))


def _contact_word(draft: Draft, mail: Mail) -> None:
    draft.body.append(draft.look.link(f"mailto:{mail.address}", draft.label("write")))


def _form(draft: Draft, mail: Mail) -> None:
    if mail.what == "placeholder":
        draft.body.append(draft.look.form("/send", mail.address))
    else:
        draft.body.append(draft.look.form(f"mailto:{mail.address}", ""))


def _team(draft: Draft, mail: Mail) -> None:
    name, _ = _person(draft)
    role = draft.say("owner")
    shown = draft.look.link(f"mailto:{mail.address}", escape(mail.address))
    draft.body.append(draft.look.card(escape(name), escape(role), shown))
    draft.truth.people.append({"name": name, "role": role, "email": mail.address})


def _credit(draft: Draft, mail: Mail) -> None:
    host = mail.address.partition("@")[2]
    agency = (
        host.partition(".")[0].replace("-", " ").title()
        if mail.what == "credit"
        else mail.address.partition("@")[0].title()
    )
    href = f"https://www.{host}/" if mail.what == "credit" else ""
    shown = draft.look.link(f"mailto:{mail.address}", escape(mail.address))
    draft.credits.append(draft.look.credit(draft.label("credit"), escape(agency), href, shown))


def _spoken(draft: Draft, mail: Mail) -> None:
    local, _, domain = mail.address.partition("@")
    pick = draft.random.randrange(2)
    at, dot = draft.words.every("at")[pick], draft.words.every("dot")[pick]
    spoken = f"{local} {at.strip()} {domain.replace('.', f' {dot.strip()} ')}"
    draft.body.append(draft.line("mail", escape(spoken)))


def _entities(draft: Draft, mail: Mail) -> None:
    coded = "".join(f"&#{ord(c)};" if draft.random.random() < 0.6 else f"&#x{ord(c):x};" for c in mail.address)
    draft.body.append(draft.line("mail", draft.look.link(f"&#109;ailto:{coded}", coded)))


def _cloudflare(draft: Draft, mail: Mail) -> None:
    key = draft.random.randrange(1, 256)
    coded = f"{key:02x}" + "".join(f"{byte ^ key:02x}" for byte in mail.address.encode())
    draft.body.append(
        draft.line(
            "mail",
            f'<a href="/cdn-cgi/l/email-protection" class="__cf_email__" data-cfemail="{coded}">'
            "[email&#160;protected]</a>",
        )
    )


def _script(draft: Draft, mail: Mail) -> None:
    local, _, domain = mail.address.partition("@")
    host, _, suffix = domain.partition(".")
    draft.body.append(
        draft.line(
            "mail",
            f"<script>var u = '{local}'; var d = '{host}' + '.' + '{suffix}';"
            "document.write('<a href=\"mailto:' + u + '@' + d + '\">' + u + '@' + d + '</a>');</script>",
        )
    )


def _dataset(draft: Draft, mail: Mail) -> None:
    """The parts in attributes; a script at the end puts them together."""
    local, _, domain = mail.address.partition("@")
    names = draft.random.choice((("user", "domain"), ("name", "host"), ("u", "d")))
    draft.body.append(
        draft.line("mail", f'<a class="js-mail" href="#" data-{names[0]}="{local}" data-{names[1]}="{domain}">…</a>')
        + "<script>document.querySelectorAll('.js-mail').forEach(function (a) { var m = "
        f"a.dataset.{names[0]} + '@' + a.dataset.{names[1]}; a.href = 'mailto:' + m; a.textContent = m; }});</script>"
    )


def _backwards(draft: Draft, mail: Mail) -> None:
    draft.body.append(
        draft.line(
            "mail", f'<span style="unicode-bidi:bidi-override;direction:rtl">{escape(mail.address[::-1])}</span>'
        )
    )


def _json_ld(draft: Draft, mail: Mail) -> None:
    draft.graph["email"] = draft.random.choice((mail.address, f"mailto:{mail.address}"))


def _element(draft: Draft, mail: Mail) -> None:
    draft.body.append(draft.look.address([draft.look.link(f"mailto:{mail.address}", escape(mail.address))]))


def _vcard(draft: Draft, mail: Mail) -> None:
    """Goes into the vCard that the phone began."""
    for position, fragment in enumerate(draft.body):
        if "data:text/vcard" in fragment:
            card = base64.b64encode(_card(draft, mail.address).encode()).decode() if ";base64," in fragment else None
            draft.body[position] = _with_card(fragment, mail.address, card)


def _with_card(fragment: str, address: str, coded: str | None) -> str:
    if coded is None:
        return fragment.replace("END%3AVCARD", f"EMAIL%3A{address}%0AEND%3AVCARD")
    start = fragment.index(";base64,") + len(";base64,")
    return fragment[:start] + coded + fragment[fragment.index('"', start) :]


def _card(draft: Draft, address: str) -> str:
    number = draft.truth.phones["must"][-1]
    return f"BEGIN:VCARD\nVERSION:3.0\nFN:{draft.firm}\nTEL;TYPE=WORK:{number}\nEMAIL:{address}\nEND:VCARD\n"


def _state(draft: Draft, mail: Mail) -> None:
    state = {"site": {"id": 4711, "contact": {"email": mail.address}, "theme": {"version": "2.14.0"}}}
    draft.head.append(f"<script>window.__STATE__ = {json.dumps(state)};</script>")


_FORMS: dict[str, Callable[[Draft, Mail], None]] = {
    "text": _text,
    "link": _link,
    "footer": _footer,
    "contact-word": _contact_word,
    "form": _form,
    "team": _team,
    "credit": _credit,
    "spoken": _spoken,
    "entities": _entities,
    "cloudflare": _cloudflare,
    "script": _script,
    "dataset": _dataset,
    "backwards": _backwards,
    "json-ld": _json_ld,
    "element": _element,
    "vcard": _vcard,
    "state": _state,
}
