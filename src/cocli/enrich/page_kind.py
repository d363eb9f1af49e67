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
            r"контакт|so-erreichen|anfahrt|impressum-kontakt|nous-trouver|dove-siamo|get-in-touch|reach-us|lien-he|お問い合わせ"
        ),
    ),
    (
        "imprint",
        re.compile(
            r"impress?um|imprint|mentions|legal|note-legali|aviso|nota-legal|colofon|colophon|informacje-prawne|oroi-xrisis|"
            r"disclaimer|anbieterkennzeichnung|tokushoho|termos|nota_legal"
        ),
    ),
    (
        "privacy",
        re.compile(r"privacy|datenschutz|privacidad|confidentialite|privacidade|prywatnosc|gdpr|dsgvo|cookie|aporrit"),
    ),
    (
        "team",
        re.compile(
            r"team|staff|mitarbeiter|ansprechpartner|equipe|équipe|equipo|medewerkers|zespol|zespół|omada|people|crew"
        ),
    ),
    (
        "about",
        re.compile(
            r"about|ueber-?uns|über-?uns|uber-?uns|wir-|unternehmen|a-propos|apropos|qui-sommes|quienes|nosotros|sobre|chi-siamo|"
            r"azienda|over-?ons|o-nas|o-firmie|quem-somos|sxetika|σχετικ|who-we-are|company|profil|hakkimizda|rolunk|meista|om-oss"
        ),
    ),
)
_HOME = re.compile(r"/?(?:index|home|default|start|main)?(?:\.[a-z]{2,5})?/?\Z|/[a-z]{2}(?:-[a-z]{2})?/?\Z")


@lru_cache(maxsize=4096)
def kind_of(url: str, title: str = "") -> PageKind:
    """By the path; where that says nothing, by the title."""
    try:
        path = unquote(urlsplit(url).path).lower()
    except ValueError:  # not an address: only the title can tell
        url = path = ""
    if url and _HOME.match(path):
        return "home"
    for text in (path[:300], title[:100].lower().replace(" ", "-")):
        for kind, pattern in _WORDS:
            if pattern.search(text):
                return kind
    return "other"
