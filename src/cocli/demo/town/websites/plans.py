"""Which websites a town has: every form and every negative once, every kind of site, and then what is common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import idna

from cocli.demo.town.languages import LANGUAGES
from cocli.demo.town.names import NameGiver, slug
from cocli.demo.town.websites.negatives import NEGATIVES, Negative
from cocli.demo.town.websites.script_forms import FORMS, form_named
from cocli.demo.town.websites.site import Branch, Charset, SiteKind, SitePage, TownEmail, TownSite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from cocli.demo.town.websites.forms import Form
    from cocli.demo.town.websites.negatives import Relation

_KINDS: tuple[tuple[SiteKind, int], ...] = (
    ("form-only", 3),
    ("image-only", 2),
    ("sitemap-only", 2),
    ("script-shell", 2),
    ("robots-closed", 2),
    ("robots-contact", 2),
    ("bot-wall", 2),
    ("parked", 3),
    ("for-sale", 2),
    ("no-such-name", 4),
    ("refused", 1),
    ("missing", 2),
    ("broken", 2),
    ("silent", 1),
    ("moved", 2),
    ("taken-over", 2),
    ("social", 4),
    ("directory", 3),
)
"""How many of each a town of the usual size has."""
_WITHOUT_ADDRESS: tuple[SiteKind, ...] = (
    *("form-only", "image-only", "bot-wall", "parked", "for-sale", "no-such-name", "refused"),
    *("missing", "broken", "silent", "taken-over", "social", "directory"),
)
_PAGES: tuple[SitePage, ...] = ("contact", "contact", "home", "imprint", "contact", "about")
_COMMON_FORMS = ("mailto", "plain-text", "cloudflare-attribute", "json-ld", "at-square", "entities-mixed", "freemail")
_FREEMAIL = ("gmail.com", "outlook.com", "gmx.com", "yahoo.com")
_SUFFIXES = {
    "de": "de",
    "fr": "fr",
    "es": "es",
    "it": "it",
    "nl": "nl",
    "pt": "com",
    "pl": "pl",
    "el": "gr",
    "ru": "com",
}


@dataclass(frozen=True, slots=True)
class SitePlan:
    """What a website is to be, before the business that has it is known."""

    kind: SiteKind = "ordinary"
    form: str = "mailto"
    page: SitePage = "contact"
    language: str = "en"
    negatives: tuple[Negative, ...] = ()
    charset: Charset = "utf-8"
    people: int = 0
    """How many people show their own addresses on the team's page, instead of one for all on the contact page."""
    crawl_delay: int | None = None
    compressed: bool = field(default=False)


def planned_sites() -> Iterator[SitePlan]:
    """What every town has, whatever its seed."""
    for number, form in enumerate(FORMS):
        page = _PAGES[number % len(_PAGES)]
        yield SitePlan(form=form.name, page=page, language=form.language or "en", compressed=number % 2 == 0)
    for negative in NEGATIVES:
        yield SitePlan(negatives=(negative,))
    for kind, count in _KINDS:
        yield from (SitePlan(kind=kind, compressed=True) for _ in range(count))
    for language in LANGUAGES:
        yield SitePlan(language=language, page="imprint", form="plain-text")
        yield SitePlan(language=language, page="contact", form="mailto", negatives=(NEGATIVES[0],))
    yield SitePlan(language="de", charset="windows-1252", form="plain-text")
    yield SitePlan(language="fr", charset="windows-1252", compressed=True)
    yield SitePlan(language="es", charset="utf-16", form="plain-text")
    yield SitePlan(language="pt", charset="meta-only", form="plain-text")
    yield from (SitePlan(page="team", people=2) for _ in range(3))
    yield SitePlan(crawl_delay=1)


def common_site(random: Random) -> SitePlan:
    """One of those that a bigger town has more of."""
    if random.random() < 0.12:
        kinds = [kind for kind, count in _KINDS for _ in range(count) if kind != "silent"]
        return SitePlan(kind=random.choice(kinds))
    form = form_named(random.choice(_COMMON_FORMS))
    page = random.choice(_PAGES)
    negatives = (random.choice(NEGATIVES),) if random.random() < 0.25 else ()
    return SitePlan(
        form=form.name,
        page="contact" if negatives else page,
        negatives=negatives,
        compressed=random.random() < 0.5,
    )


class SiteBuilder:
    """Turns a plan into the website of a business with a name and a phone number."""

    def __init__(self, names: NameGiver, random: Random) -> None:
        self._names = names
        self._random = random

    def build(
        self,
        plan: SitePlan,
        name: str,
        phone: str | None,
        address: str | None = None,
        branches: tuple[Branch, ...] = (),
    ) -> TownSite:
        form = form_named(plan.form)
        domain, shown = self._domain(name, plan, form)
        target = self._target(plan, name)
        mail_domain = target.removeprefix("www.") if target else domain
        return TownSite(
            host=f"www.{domain}",
            domain=domain,
            kind=plan.kind,
            language=plan.language,
            name=name,
            phone=phone,
            address=address,
            emails=self._emails(plan, form, name, mail_domain),
            negatives=plan.negatives,
            pages=_pages(plan),
            charset=plan.charset,
            compressed=plan.compressed,
            crawl_delay=plan.crawl_delay,
            unicode_domain=shown,
            target=target,
            facebook=slug(name).replace("-", "") if self._random.random() < 0.5 else None,
            branches=branches,
        )

    def _domain(self, name: str, plan: SitePlan, form: Form) -> tuple[str, str | None]:
        if form.mailbox != "idn":
            return self._names.domain(name, _SUFFIXES.get(plan.language, "com")), None
        shown = f"{slug(name)}-grün.de"
        return idna.encode(shown, uts46=True).decode("ascii"), shown

    def _target(self, plan: SitePlan, name: str) -> str | None:
        if plan.kind == "moved":
            return f"www.{self._names.domain(f'{name} new')}"
        if plan.kind == "taken-over":
            return f"www.{self._names.domain(f'{self._names.family()} Holding')}"
        return None

    def _emails(self, plan: SitePlan, form: Form, name: str, domain: str) -> tuple[TownEmail, ...]:
        if plan.kind in _WITHOUT_ADDRESS:
            return ()
        if plan.people:
            return tuple(self._person(domain, plan.page) for _ in range(plan.people))
        mailbox = LANGUAGES[plan.language].mailbox
        if form.mailbox in ("freemail", "mail.ru"):
            host = "mail.ru" if form.mailbox == "mail.ru" else self._random.choice(_FREEMAIL)
            return (TownEmail(f"{slug(name).replace('-', '.')}@{host}", "freemail", form.name, plan.page),)
        locals_by_value = {"email": mailbox, "second": "sales", "third": "billing"}
        return tuple(_role(f"{locals_by_value[value]}@{domain}", "own", form.name, plan.page) for value in form.shows)

    def _person(self, domain: str, page: SitePage) -> TownEmail:
        given, family = self._names.person()
        address = f"{given}.{family}@{domain}".lower()
        return TownEmail(address, "own", "mailto", page, "person", f"{given} {family}")


def _role(address: str, relation: Relation, form: str, page: SitePage) -> TownEmail:
    return TownEmail(address, relation, form, page, "role", address.partition("@")[0])


def _pages(plan: SitePlan) -> tuple[SitePage, ...]:
    pages: list[SitePage] = ["home", "contact", "about"]
    if plan.page == "imprint" or plan.language != "en":
        pages.append("imprint")
    if plan.people:
        pages.append("team")
    return tuple(pages)
