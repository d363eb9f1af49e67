"""Names of countries that the English table lacks: what people in and around them write in a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.imports.fields import comparable

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES: Mapping[str, tuple[str, ...]] = {
    "DE": ("Deutschland", "Allemagne", "Alemania", "Germania", "Duitsland", "BRD"),
    "AT": ("Österreich", "Autriche", "Oostenrijk"),
    "CH": ("Schweiz", "Suisse", "Suiza", "Svizzera", "Zwitserland"),
    "FR": ("Frankreich", "Francia", "Frankrijk"),
    "ES": ("España", "Spanien", "Espagne", "Spagna", "Spanje"),
    "IT": ("Italia", "Italien", "Italie", "Italië"),
    "PT": ("Portogallo",),
    "NL": ("Nederland", "Niederlande", "Pays-Bas", "Países Bajos", "Paesi Bassi", "The Netherlands", "Holland"),
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
    "CA": ("Kanada",),
    "MX": ("México", "Mexiko", "Mexique", "Messico"),
    "BR": ("Brasil", "Brasilien", "Brésil"),
    "AR": ("Argentinien", "Argentine"),
    "DK": ("Danmark", "Dänemark", "Danemark"),
    "SE": ("Sverige", "Schweden", "Suède"),
    "NO": ("Norge", "Norwegen", "Norvège"),
    "FI": ("Suomi", "Finnland", "Finlande"),
    "PL": ("Polska", "Polen", "Pologne"),
    "CZ": ("Czech Republic", "Česko", "Tschechien"),
    "HU": ("Magyarország", "Ungarn", "Hongrie"),
    "RO": ("România", "Rumänien", "Roumanie"),
    "GR": ("Griechenland", "Grèce", "Hellas"),
    "TR": ("Türkei", "Turquie", "Turkey", "Türkiye"),
}

OTHER_NAMES: Mapping[str, str] = {comparable(name): code for code, names in _NAMES.items() for name in names}
"""Comparable name → the two letters of the country."""
