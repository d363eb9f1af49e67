"""Addresses that are well formed and still nobody's: placeholders, demos, hashes, mailboxes that nobody reads.

Decided by what the words of the address mean. The lists here are of words and of the domains that website builders
and themes fill in; a site's own domain is never a placeholder.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.words import GENERAL_ROLES, UNATTENDED
from cocli.pipeline.websites.hosts.providers import is_freemail
from cocli.pipeline.websites.hosts.table import hosts_of, listed
from cocli.pipeline.websites.page.wordlist import words

if TYPE_CHECKING:
    from cocli.pipeline.websites.facts.emails.address import Address

_PLACEHOLDER_WORDS = (
    *(
        "example",
        "examples",
        "exemple",
        "exemples",
        "ejemplo",
        "esempio",
        "exemplo",
        "beispiel",
        "voorbeeld",
        "przyklad",
    ),
    *("priklad", "pelda", "ornek", "paradeigma", "primer", "eksempel", "esimerkki", "exempel", "sample", "muster"),
    *("musterfirma", "musterdomain", "mustermann", "test", "testing", "tester", "demo", "dummy", "placeholder", "fake"),
    *(
        "foo",
        "bar",
        "baz",
        "foobar",
        "acme",
        "lorem",
        "ipsum",
        "loremipsum",
        "dolor",
        "xxx",
        "xxxx",
        "xyz",
        "abc",
        "abcd",
    ),
    *("domain", "domaine", "dominio", "domena", "domein", "domainname", "doman", "alanadi", "domeniu", "domen"),
    *(
        "your",
        "yours",
        "my",
        "mein",
        "meine",
        "deine",
        "dein",
        "ihre",
        "ihr",
        "votre",
        "mon",
        "tu",
        "su",
        "mi",
        "tuo",
        "tua",
    ),
    *("vostro", "seu", "sua", "jouw", "uw", "mijn", "twoj", "twoja", "twojadomena", "moj", "our", "some", "any", "the"),
    *("company", "firma", "firm", "empresa", "azienda", "entreprise", "societe", "bedrijf", "companyname", "sirket"),
    *(
        "business",
        "brand",
        "site",
        "website",
        "webseite",
        "sitio",
        "sito",
        "strona",
        "web",
        "page",
        "blog",
        "shop",
        "store",
    ),
    *("name", "nombre", "nome", "nom", "naam", "nazwa", "email", "emails", "mail", "e", "correo", "address", "adresse"),
    *("adres", "here", "host", "server", "provider", "anbieter", "org", "organization", "agency", "client", "customer"),
    *("user", "username", "someone", "somebody", "person", "theme", "template", "somewhere", "anywhere", "nowhere"),
    *("real", "really", "great", "really great", "unternehmen", "project", "app", "inc", "corp", "co", "local"),
)
_WORDS = frozenset(_PLACEHOLDER_WORDS)
_LONGEST_WORD = max(map(len, _WORDS))
_WEAK = words(
    """
    acme abc abcd xyz xxx firma empresa azienda entreprise bedrijf societe sirket unternehmen business shop
    mail web shop store blog app co org server host provider real great really brand e the any some firm page inc corp
    agency bar local project client customer our mon tu su mi uw person here name nome nom naam strona primer tester
    adres correo sito sua seu tuo tua moj
    """
)
"""A name made of these alone may be somebody's: mail.ru, web.de, thebar.com."""

_PLACEHOLDER_LOCALS = words(
    """
    you your yourname your-name your.name your_name youremail your-email your.email yourmail youraddress
    youremailaddress name names username user.name user user1 user123 someone somebody somename anyone me.you
    firstname.lastname firstname lastname first.last firstlast first.lastname f.lastname firstinitial.lastname
    name.surname name.lastname vorname.nachname vorname.name vorname nachname v.nachname ihre ihr ihremail ihre-email
    max.muster maxmuster muster.max petra.muster hans.muster ihrname ihr.name ihreemail
    deinname dein.name deine deine-email deineemail max.mustermann maxmustermann mustermann
    m.mustermann erika.mustermann mustername muster john.doe johndoe john_doe jdoe j.doe jane.doe janedoe jane_doe doe
    john.smith johnsmith prenom.nom prénom.nom nom.prenom nom nomprenom votre votremail votre.email votre-email
    votreemail votrenom votre.nom nombre.apellido nombre tu tucorreo tu-correo tu.correo tuemail tu-email tu.email
    correo.ejemplo sucorreo nome.cognome nome tuonome tuo.nome tuaemail tuamail la.tua.email nome.sobrenome seuemail
    seu.email seunome seu voornaam.achternaam voornaam naam jouwnaam jouw uwnaam uw imie.nazwisko imie nazwisko twoj
    twojemail twoj.email twojmail ornek example exemple ejemplo esempio beispiel voorbeeld sample placeholder
    test.test testuser foo foobar foo.bar xxx xxxx xyz abc abcd abc123 aaa asdf qwerty email.address emailaddress
    mailaddress address myemail my-email my.email mymail myname my.name filler lorem lorem.ipsum loremipsum eposta
    adiniz isim ad.soyad
    """
)
_SHARED_NAMES = words(
    """
    john jane max erika jean marie mario maria anna jan test demo email mail info contact hello admin
    """
)

_TECHNICAL_LOCALS = words("git svn hg ssh root npm cvs rsync www-data localhost nobody daemon")
_HASH = re.compile(r"(?=.*\d)(?:[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-.*|[0-9a-f-]{24,})\Z")
_TECHNICAL_HOST = re.compile(
    r"(?:^|\.)(?:sentry(?:-next|-viewer)?|ingest|bugsnag|rollbar)\.|(?:^|\.)(?:localhost|internal|local)\b"
)
_NOBODY_READS = re.compile(
    r"(?:no|do-?not|dont|not)[._-]?repl(?:y|ies)|bounces?(?:[+_-]|\Z)|(?:nicht|keine)[._-]?antwort"
)
_NUMBERED = re.compile(r"\d+(?:\.\d+)+\Z")
"""`20230101.123456@host`: the number of a message."""
_WHOSE = words("my mein meine deine dein ihre ihr votre mon ton tu su mi tuo tua seu sua jouw uw mijn your")
_WHAT = words("address adresse email mail emailaddress mailadresse name nom nome nombre correo courriel username user")


def junk_reason(address: Address, own_domains: frozenset[str]) -> str | None:
    """Why an address is nobody's, or None where nothing speaks against it."""
    if address.local in UNATTENDED or _NOBODY_READS.match(address.local):
        return "unattended"
    if _HASH.match(address.local) or _is_a_machine(address.domain):
        return "technical"
    if address.local in _TECHNICAL_LOCALS or _NUMBERED.match(address.local):
        return "technical"
    if address.local in _PLACEHOLDER_LOCALS and not (
        address.registrable in own_domains and address.local in _OWN_MAY_USE
    ):
        return "placeholder"
    if address.registrable in own_domains:
        return None
    if _is_a_blank(address.local):
        return "placeholder"
    if is_freemail(address.registrable) and _no_private_mailbox(address):
        return "placeholder"
    if address.registrable in hosts_of("filler") or placeholder_domain(address.registrable):
        return "placeholder"
    if len(address.local) == 1 and len(address.registrable.partition(".")[0]) == 1:
        return "placeholder"
    label = address.registrable.partition(".")[0]
    if label == address.local and label in _WORDS | _SHARED_NAMES and label not in _REAL_TWINS:
        return "placeholder"
    return None


def _is_a_machine(domain: str) -> bool:
    """Mail that programs send and receive: by the name of the host, or by the service that it belongs to."""
    return _TECHNICAL_HOST.search(domain) is not None or listed(domain, "machine") is not None


def _is_a_blank(local: str) -> bool:
    """`mon.adresse`, `your_email`: whose, and what."""
    letters = re.sub(r"[._-]", "", local)
    return any(letters.startswith(whose) and letters[len(whose) :] in _WHAT for whose in _WHOSE)


def _no_private_mailbox(address: Address) -> bool:
    """`info@gmail.com`: nobody can have it. Where everybody is a customer, roles are reserved or an example."""
    too_short = address.registrable == "gmail.com" and len(address.local.replace(".", "")) < _GMAIL_SHORTEST
    return too_short or address.local in GENERAL_ROLES or address.local in _SHARED_NAMES


_GMAIL_SHORTEST = 6
_OWN_MAY_USE = words("name nome nom naam me foo xyz abc user test filler seu tu imie address")
_REAL_TWINS = frozenset(("mail", "info"))


@lru_cache(maxsize=4096)
def placeholder_domain(registrable: str) -> bool:
    """Is the name put together of nothing but words such as your, company, example?"""
    label = registrable.partition(".")[0]
    parts = [part for part in re.split(r"[-_\d]+", label) if part]
    if not parts:
        return False
    words = [_segmented(part) for part in parts]
    if not all(words):
        return False
    flat = [word for some in words for word in some or ()]
    return not _WEAK.issuperset(flat)


def _segmented(text: str) -> list[str] | None:
    """A text as a row of placeholder words, longest first; None where it is not one. At most 63 characters long."""
    reach: list[list[str] | None] = [[], *[None] * len(text)]
    for end in range(1, len(text) + 1):
        for start in range(max(0, end - _LONGEST_WORD), end):
            before = reach[start]
            if before is not None and text[start:end] in _WORDS:
                reach[end] = [*before, text[start:end]]
                break
    return reach[len(text)]
