"""Countries as people write them in a column: by code, in English, or as they are called in and around them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from cocli.pipeline.plan.geonames import GeoNames
from cocli.pipeline.sources.imports.fields import comparable

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODE = re.compile(r"[A-Za-z]{2}")
_NAMES: Mapping[str, tuple[str, ...]] = {
    "DE": ("Deutschland", "Allemagne", "Alemania", "Germania", "Duitsland", "BRD"),
    "AT": ("Österreich", "Autriche", "Oostenrijk"),
    "CH": ("Schweiz", "Suisse", "Suiza", "Svizzera", "Zwitserland"),
    "FR": ("Frankreich", "Francia", "Frankrijk"),
    "ES": ("España", "Spanien", "Espagne", "Spagna", "Spanje"),
    "IT": ("Italia", "Italien", "Italie", "Italië"),
    "PT": ("Portogallo",),
    "NL": (
        "Netherlands",
        "Nederland",
        "Niederlande",
        "Pays-Bas",
        "Países Bajos",
        "Paesi Bassi",
        "The Netherlands",
        "Holland",
    ),
    "BE": ("België", "Belgique", "Belgien", "Bélgica", "Belgio"),
    "LU": ("Luxemburg", "Lussemburgo"),
    "GB": (
        "UK",
        "England",
        "Scotland",
        "Wales",
        "Northern Ireland",
        "Great Britain",
        "Großbritannien",
        "Vereinigtes Königreich",
        "Royaume-Uni",
        "Reino Unido",
        "Regno Unito",
    ),
    "IE": ("Irland", "Irlande", "Irlanda", "Éire", "Republic of Ireland"),
    "US": (
        "USA",
        "U.S.",
        "U.S.A.",
        "United States of America",
        "Vereinigte Staaten",
        "États-Unis",
        "Estados Unidos",
        "EE. UU.",
        "Stati Uniti",
    ),
    "CA": ("Kanada", "Canadá"),
    "AU": ("Australien", "Australie"),
    "AE": ("UAE", "U.A.E.", "Emirates", "الإمارات", "الإمارات العربية المتحدة", "Vereinigte Arabische Emirate"),
    "SA": ("KSA", "Kingdom of Saudi Arabia", "السعودية", "المملكة العربية السعودية"),
    "EG": ("مصر", "Ägypten", "Égypte"),
    "MA": ("Maroc", "المغرب", "Marokko"),
    "JO": ("الأردن",),
    "KW": ("الكويت",),
    "QA": ("قطر",),
    "IQ": ("العراق",),
    "LB": ("لبنان", "Liban"),
    "IL": ("ישראל",),
    "RU": ("Россия", "Russian Federation", "Российская Федерация", "Russland", "Russie", "Rusia"),
    "UA": ("Україна", "Украина"),
    "BY": ("Беларусь",),
    "KZ": ("Казахстан", "Қазақстан"),
    "BG": ("България", "Bulgarien"),
    "RS": ("Србија", "Srbija", "Serbien"),
    "HR": ("Hrvatska", "Kroatien"),
    "SI": ("Slovenija", "Slowenien"),
    "SK": ("Slovensko", "Slowakei"),
    "JP": ("日本", "Japon", "Japón"),
    "CN": ("中国", "中國", "PRC", "People's Republic of China", "Chine"),
    "TW": ("台灣", "台湾", "Taiwan, Province of China"),
    "HK": ("香港",),
    "KR": ("대한민국", "한국", "Korea", "Republic of Korea", "Südkorea"),
    "TH": ("ประเทศไทย", "ไทย"),
    "VN": ("Việt Nam", "Viet Nam"),
    "ID": ("Indonésie", "Indonesien"),
    "IN": ("भारत", "Indien", "Inde"),
    "PH": ("Pilipinas", "Philippinen"),
    "MX": ("México", "Mexiko", "Mexique", "Messico"),
    "BR": ("Brasil", "Brasilien", "Brésil"),
    "AR": ("Argentinien", "Argentine"),
    "DK": ("Danmark", "Dänemark", "Danemark"),
    "SE": ("Sverige", "Schweden", "Suède"),
    "NO": ("Norge", "Norwegen", "Norvège"),
    "FI": ("Suomi", "Finnland", "Finlande"),
    "PL": ("Polska", "Polen", "Pologne"),
    "CZ": ("Czechia", "Czech Republic", "Česko", "Tschechien"),
    "HU": ("Magyarország", "Ungarn", "Hongrie"),
    "RO": ("România", "Rumänien", "Roumanie"),
    "GR": ("Ελλάδα", "Griechenland", "Grèce", "Hellas"),
    "TR": ("Türkei", "Turquie", "Turkey", "Türkiye"),
}

OTHER_NAMES: Mapping[str, str] = {comparable(name): code for code, names in _NAMES.items() for name in names}
"""Comparable name → the two letters of the country."""


def country_of(text: str) -> str | None:
    """The two letters of a country, from its code or its name: in English, or in one of its neighbours' languages."""
    if _CODE.fullmatch(text):
        return text.upper() if text.upper() in _countries().values() else OTHER_NAMES.get(text.casefold())
    return _countries().get(text.casefold()) or OTHER_NAMES.get(comparable(text))


@cache
def _countries() -> dict[str, str]:
    known: dict[str, str] = {}
    for code, country in GeoNames().countries().items():
        known[country["name"].casefold()] = code
        known[country["iso3"].casefold()] = code
    return known
