"""How people hide an address from those who collect them: the encodings that the town's websites use.

Each function is the way *in*: what an author's tool does. The way out is the business of enrichment.
"""

from __future__ import annotations

import base64
import codecs
from urllib.parse import quote

_TYPO3_RANGES = ((0x2B, 0x3A), (0x40, 0x5A), (0x61, 0x7A))
_CRYPTX_KEYS = 4
_VOWELS = "aeiou"


def decimal_entities(text: str) -> str:
    return "".join(f"&#{ord(character)};" for character in text)


def hex_entities(text: str) -> str:
    return "".join(f"&#x{ord(character):x};" for character in text)


def mixed_entities(text: str) -> str:
    """WordPress' `antispambot`: some characters as they are, some decimal, some hex."""
    ways = (lambda c: f"&#{ord(c)};", lambda c: f"&#x{ord(c):x};", lambda c: c)
    return "".join(ways[number % 3](character) for number, character in enumerate(text))


def percent(text: str) -> str:
    """Every byte, in lower case."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


def rot13(text: str) -> str:
    return codecs.encode(text, "rot13")


def base64_text(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


def char_codes(text: str) -> str:
    return ",".join(str(ord(character)) for character in text)


def cloudflare(text: str, key: int) -> str:
    """The first byte is the key, the others are combined with it."""
    return bytes([key, *(byte ^ key for byte in text.encode())]).hex()


def typo3(text: str, offset: int) -> str:
    """TYPO3's `linkTo_UnCryptMailto`: a shift within three ranges of characters."""
    return "".join(_typo3_character(character, offset) for character in text)


def _typo3_character(character: str, offset: int) -> str:
    code = ord(character)
    for first, last in _TYPO3_RANGES:
        if first <= code <= last:
            return chr(first + (code - first + offset) % (last - first + 1))
    return character


def cryptx(text: str) -> str:
    """The WordPress plugin CryptX: a key digit before each character."""
    keyed = ((number % _CRYPTX_KEYS, character) for number, character in enumerate(text))
    return "".join(f"{key}{chr(ord(character) + key)}" for key, character in keyed)


def joomla(text: str) -> str:
    """Joomla's cloak: vowels, `@` and `.` as entities."""
    return "".join(f"&#{ord(character)};" if character in _VOWELS + "@." else character for character in text)


def eeb_script(text: str, element: str) -> str:
    """The script of the WordPress Email Encoder: an alphabet, and the place of each character in it."""
    escaped = quote(text, safe="").replace("~", "%7E")
    alphabet = "".join(dict.fromkeys(escaped))
    places = "".join(chr(48 + alphabet.index(character)) for character in escaped).replace("\\", "\\\\")
    return (
        f'(function(){{var ml="{alphabet}",mi="{places}",o="";'
        "for(var j=0,l=mi.length;j<l;j++){o+=ml.charAt(mi.charCodeAt(j)-48);}"
        f'document.getElementById("{element}").innerHTML=decodeURIComponent(o);}}());'
    )


def full_width(text: str) -> str:
    return "".join(chr(ord(character) + 0xFEE0) if "!" <= character <= "~" else character for character in text)


def values_of(email: str, second: str, third: str, name: str) -> dict[str, str]:
    """What the templates of the forms are filled with, by the name between two `§`."""
    local, _, domain = email.partition("@")
    stem, _, suffix = domain.rpartition(".")
    half = len(stem) // 2
    link = f"mailto:{email}"
    return {
        "email": email, "second": second, "third": third, "local": local, "domain": domain, "stem": stem, "tld": suffix,
        "name": name, "name_percent": quote(name), "upper": email.upper(),
        "title": f"{local.capitalize()}@{domain.title()}",
        "reversed": email[::-1], "rot13": rot13(email), "link_rot13": rot13(link),
        "rot13_spoken": rot13(local) + "[at]" + rot13(domain),
        "b64": base64_text(email), "link_b64": base64_text(link), "second_b64": base64_text(second),
        "local_b64": base64_text(local), "domain_b64": base64_text(domain),
        "decimal": decimal_entities(email), "hex": hex_entities(email), "link_hex": hex_entities(link),
        "mixed": mixed_entities(email),
        "percent": percent(email), "percent_anchor": percent(f'<a href="{link}">Mail</a>'),
        "percent_code": percent(f"document.write('<a href=\"mailto:'+'{local}'+'@'+'{domain}'+'\">Mail</a>')"),
        "codes": char_codes(email), "cf": cloudflare(email, 0x5A), "cf_link": cloudflare(email, 0x91),
        "typo3": typo3(link, 1), "typo3_minus": typo3(link, -5), "typo3_token": typo3(link, 3), "cryptx": cryptx(email),
        "joomla_local": joomla(local), "joomla_stem": joomla(stem), "joomla_tld": joomla(suffix),
        "eeb": eeb_script(f'<a href="{link}">{email}</a>', "eeb-1"),
        "full_width": full_width(email), "stem_first": stem[:half], "stem_rest": stem[half:],
        "array_reversed": ",".join(f"'{part}'" for part in (suffix, ".", stem, "@", local)),
        "misspelt": f"{local}@{misspelt(stem)}.{suffix}",
    }  # fmt: skip


def misspelt(stem: str) -> str:
    """Two neighbouring letters exchanged, as a hurried author does."""
    for place in range(2, len(stem) - 1):
        if stem[place].isalpha() and stem[place + 1].isalpha() and stem[place] != stem[place + 1]:
            return stem[:place] + stem[place + 1] + stem[place] + stem[place + 2 :]
    return stem + "s"


def filled(template: str, values: dict[str, str]) -> str:
    """A template with `§name§` in it. A name that is not there is a mistake of the template: KeyError."""
    parts = template.split("§")
    return "".join(values[part] if number % 2 else part for number, part in enumerate(parts))
