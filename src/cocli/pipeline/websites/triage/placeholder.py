"""Is this page a stand-in for a website: a domain for sale, a parked one, the default page of a web host?

A phrase alone decides nothing: it has to be a page that says little else. docs/enrichment.md has the table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.hosts.elsewhere import is_parking, is_sale
from cocli.pipeline.websites.triage.signals import code_of, embedded, has_contact, is_thin, own_links

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.page.page import Page

VERY_THIN = 400
_FEW_LINKS = 5

_SALE = re.compile(
    r"(?:buy|purchase|own|acquire|get) this (?:premium )?(?:domain|web ?address)|"
    r"(?:domain|domain name|web ?address)[^\n]{0,60} (?:is|may be|might be|could be) (?:available )?for sale|"
    r"domain[- ]name for sale|domain for sale|premium domain|make an offer on (?:this|the) domain|"
    r"domain[^\n]{0,60} (?:steht|ist|wird) (?:hier )?(?:zum verkauf|zu verkaufen|verkauft)|"
    r"domain (?:zu )?(?:kaufen|verkaufen)|"
    r"(?:nom de domaine|domaine)[^\n]{0,60} (?:est )?(?:à|a) vendre|acheter ce (?:nom de )?domaine|"
    r"dominio[^\n]{0,60} (?:está|esta) (?:a la|en) venta|comprar? este dominio|dominio en venta|"
    r"dominio[^\n]{0,60} (?:è )?in vendita|acquista questo dominio|"
    r"domein(?:naam)?[^\n]{0,60} (?:is |staat )?te koop|koop deze domeinnaam|"
    r"dom[ií]nio[^\n]{0,60} (?:está )?(?:à|a) venda|"
    r"domena[^\n]{0,60} (?:jest )?na sprzedaż|kup tę domenę|"
    r"this (?:web ?site|web ?page) is for sale|域名(?:正在)?(?:出售|转让)|домен[^\n]{0,60} прода|"
    r"domænet er til salg|domänen är till salu|doména[^\n]{0,60} (?:je )?na predaj|doména[^\n]{0,60} (?:je )?na prodej|"
    r"(?:το )?domain[^\n]{0,60} πωλείται|πωλείται (?:το|αυτό το) (?:domain|όνομα)",
    re.IGNORECASE,
)
_PARKED = re.compile(
    r"(?:domain|site|page|web ?address)[^\n]{0,60} (?:is|has been) (?:currently )?"
    r"(?:parked|reserved|registered (?:at|with|by|for))|"
    r"parked (?:free|domain|page)|domain parking|this domain (?:name )?(?:has )?expired|"
    r"domain (?:ist|wurde) (?:geparkt|registriert|reserviert)|diese domain (?:ist|wurde)|"
    r"domaine (?:est )?(?:réservé|parqué|enregistré)|dominio (?:ha sido |está )?(?:registrado|aparcado|estacionado)|"
    r"dominio (?:è stato )?(?:registrato|parcheggiato)|domein(?:naam)? is (?:geregistreerd|gereserveerd|geparkeerd)|"
    r"dom[ií]nio (?:está )?(?:registado|registrado|estacionado)|"
    r"domena (?:jest |została )?(?:zaparkowana|zarejestrowana)|"
    r"(?:domain|site)[^\n]{0,60} (?:was|is) (?:recently |newly )?registered (?:at|with|by|through)|"
    r"このドメイン(?:は|名は)|domänen är (?:parkerad|registrerad|upptagen)|domænet er (?:parkeret|registreret)|"
    r"doména (?:je )?(?:zaparkov|registrov)|домен[^\n]{0,40} (?:припаркован|зарегистрирован)",
    re.IGNORECASE,
)
_LANDER = re.compile(
    r"parking-lander|sedoparking|parkingcrew|bodis(?:cdn)?\.com|d38psrni17bvxu|cashparking|\bparklogic\b|/park\.js\b",
    re.IGNORECASE,
)
"""What the scripts of parking services are called."""
_SERVER_PAGE = re.compile(
    r"default web ?site page|default page|welcome to nginx|account suspended|iis windows|test page for the",
    re.IGNORECASE,
)
"""Titles of pages that come with a server. The address on them is made up from the name of the host."""
_OFFERED = re.compile(
    r"for sale|à vendre|zu verkaufen|kaufen|en venta|in vendita|te koop|à venda|na sprzedaż|buy ", re.IGNORECASE
)
_DEFAULT = re.compile(
    r"apache2? (?:ubuntu |debian |centos )?default page|test page for the (?:apache|nginx|http)|welcome to nginx|"
    r"iis windows server|default (?:web ?site|parallels plesk|plesk) page|domain default page|"
    r"web server's default page|"
    r"^index of /|(?:account|website|site|hosting) (?:has been |is )?suspended|"
    r"website expired|this account has expired|"
    r"(?:site|store|shop) is (?:currently )?(?:private|unavailable|not available)|"
    r"opening soon|iis windows|welcome to your new (?:web ?)?site|not pointing to our server|"
    r"new (?:web ?)?site is (?:on its way|coming|under construction)|this site is currently unavailable|future home of|"
    r"(?:website|site|page)? ?(?:is )?coming soon|under construction|launching soon|"
    r"hier entsteht (?:eine|in kürze)|(?:seite|website) (?:befindet sich )?im aufbau|site en (?:construction|cours de)|"
    r"en construcción|in costruzione|in aanbouw|em construção|w budowie|υπό κατασκευή|"
    r"(?:looks like )?this domain isn.t connected|no (?:web ?)?site (?:is )?configured|"
    r"there is no website (?:here|configured)|"
    r"(?:congratulations|success)[!.]? your (?:new )?(?:web ?site|domain|account)",
    re.IGNORECASE | re.MULTILINE,
)


def sale_evidence(page: Page, facts: PageFacts, site: str) -> tuple[str, ...]:
    """Why the domain is for sale; empty where it is not."""
    if is_sale(page.url):
        return (f"the page is at {page.url}",)
    return _judged(page, facts, site, _SALE, [url for url in embedded(page) if is_sale(url)])


def parking_evidence(page: Page, facts: PageFacts, site: str) -> tuple[str, ...]:
    """Why the domain is parked, or has only the page of its host; empty where it is not."""
    if is_parking(page.url):
        return (f"the page is at {page.url}",)
    lander = _LANDER.search(code_of(page)) if is_thin(page) else None
    parked = _judged(
        page,
        facts,
        site,
        _PARKED,
        [url for url in embedded(page) if is_parking(url)] or ([lander[0]] if lander else []),
    )
    return parked or _default_page(page, facts, site)


def _judged(page: Page, facts: PageFacts, site: str, phrases: re.Pattern[str], sellers: list[str]) -> tuple[str, ...]:
    """Two signs at least: who embeds it, what the title says, what the text says, that it names the domain."""
    if not is_thin(page) or any(email.relation == "own" for email in facts.emails):
        return ()
    signs = [f"it embeds {url[:200]}" for url in sellers[:1]]
    signs += [f'its {where} says "{text}"' for where, text in _phrases(page, phrases)]
    if not signs:
        return ()
    if any(is_sale(page.absolute(e.get("href")) or "") for e in page.links[:50]):
        signs.append("it links to a market place of domains")
    title = page.title.strip().lower()
    if title.removeprefix("www.") == site:
        signs.append("its title is the bare domain")
    elif site in title and _OFFERED.search(title):
        signs.append("its title offers the domain")
    if is_thin(page, VERY_THIN):
        signs.append(f"it has {len(page.text)} characters of text")
    if own_links(page, site) < _FEW_LINKS:
        signs.append("hardly a link leads on within the site")
    return tuple(signs) if len(signs) > 2 or (len(signs) > 1 and not has_contact(facts)) else ()


def _default_page(page: Page, facts: PageFacts, site: str) -> tuple[str, ...]:
    comes_with_server = _SERVER_PAGE.search(page.title) is not None and not facts.phones
    if not is_thin(page) or (has_contact(facts) and not comes_with_server):
        return ()
    if facts.addresses or own_links(page, site) >= _FEW_LINKS:
        return ()
    signs = [f'its {where} says "{text}"' for where, text in _phrases(page, _DEFAULT)]
    return (*signs, "it names no contact, and hardly a link leads on") if signs else ()


def _phrases(page: Page, phrases: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for where, text in (("title", page.title), ("text", page.text[:3_000])):
        match = phrases.search(text)
        if match:
            yield where, " ".join(match[0].split())[:120]
