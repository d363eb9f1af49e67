"""What a page of a website is for, by the words of its address: contact, imprint, about, team, privacy, home."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote, urlsplit

PageKind = Literal["contact", "imprint", "about", "team", "privacy", "home", "other"]

_WORDS: tuple[tuple[PageKind, re.Pattern[str]], ...] = (
    (
        "contact",
        re.compile(
            r"conta[ck]t|kontakt|contatt|contato|contacter|kapcsolat|iletisim|iletişim|epikoin|επικοινων|yhteys|yhteystied|"
            r"контакт|so-erreichen|anfahrt|impressum-kontakt|nous-trouver|dove-siamo|get-in-touch|reach-us|lien-he|お問い合わせ|"
            r"find-us|fale-con|escr[ií]benos|donde-estamos|onde-estamos|dojazd|napisz-do"
        ),
    ),
    (
        "imprint",
        re.compile(
            r"impress?um|imprint|mentions|legal|note-legali|aviso|nota-legal|colofon|colophon|informacje-prawne|oroi-xrisis|"
            r"disclaimer|anbieterkennzeichnung|tokushoho|termos|nota_legal|rechtliche|juridisch|bedrijfsgegevens|regulamin|"
            r"dane-firmy|dati-societari|[όο]ροι-χρ[ήη]σ|νομικ"
        ),
    ),
    (
        "privacy",
        re.compile(r"privacy|datenschutz|privacidad|confidentialite|privacidade|prywatnosc|gdpr|dsgvo|cookie|aporrit"),
    ),
    (
        "team",
        re.compile(
            r"(?<![a-z])(?:team|crew)|staff|mitarbeiter|ansprechpartner|equipe|équipe|equipo|medewerkers|zespol|zespół|"
            r"omada|ομ[άα]δα|people|pracownicy|collaborateurs|collaboratori|colaboradores|personeel"
        ),
    ),
    (
        "about",
        re.compile(
            r"about|ueber-?uns|über-?uns|uber-?uns|wir-|unternehmen|a-propos|apropos|qui-sommes|qui[eé]nes|nosotros|sobre|chi-siamo|"
            r"azienda|over-?ons|o-nas|o-firmie|quem-somos|sxetika|σχετικ|who-we-are|company|profil|hakkimizda|rolunk|meista|om-oss|"
            r"ποιοι-ε[ίι]μαστε|εταιρ[είι]|etaireia|chi-sono|notre-histoire|nuestra-historia"
        ),
    ),
)
_HOME = re.compile(r"/?(?:index|home|default|start|main)?(?:\.[a-z]{2,5})?/?\Z|/[a-z]{2}(?:-[a-z]{2})?/?\Z")


def kind_of(url: str, title: str = "") -> PageKind:
    """By the path; where that says nothing, by the title."""
    try:
        path = unquote(urlsplit(url).path).lower()
    except ValueError:  # not an address: only the title can tell
        url = path = ""
    if url and _HOME.match(path):
        return "home"
    kind = _by_words(path[:300])
    return kind if kind != "other" else _by_words(title[:100].lower().replace(" ", "-"))


@lru_cache(maxsize=8192)
def _by_words(text: str) -> PageKind:
    """Remembered without the host: sites call their pages by the same few names."""
    for kind, pattern in _WORDS:
        if pattern.search(text):
            return kind
    return "other"
