"""Is a page a template that nobody has filled in? Then its addresses and numbers are the template's, not a company's.

Two independent signs are needed: filler text, social links that lead to a platform's front door or login page, phone
numbers that are a row of digits, the postal addresses of well-known templates.
"""

from __future__ import annotations

import re

from cocli.pipeline.websites.hosts.table import listed
from cocli.pipeline.websites.page.page import Page, host_of

_FILLER = ("lorem ipsum", "dolor sit amet", "consectetur adipi")
_ROW = re.compile(r"(?:0?1[ -]?2[ -]?3[ -]?4[ -]?5[ -]?6[ -]?[789])|(?:\d)(?:[ -]?(?:000|111|555|999)){2}")
_DEMO_ADDRESS = re.compile(
    r"123 (?:main |demo |fake |example )?street, |A108 Adam Street|\+1 5589 55488|1234 Street Name|"
    r"Your (?:Street|Address|City)\b",
    re.IGNORECASE,
)
_DEMO_WORDS = ("street, ", "a108 adam", "+1 5589", "1234 street", "your street", "your address", "your city")
"""Of each of these addresses one part: most texts have none of them, which is seen faster."""
_FRONT_DOOR = re.compile(r"/?(?:#.*)?$|/(?:login|i/flow/login|accounts/login)/?$")
_SIGNS_NEEDED = 2
_DOORS_NEEDED = 2


def is_unfilled_template(page: Page) -> bool:
    kept = page.__dict__.get("_template")
    if kept is None:
        signs = (_has_filler(page), _leads_to_front_doors(page), _has_row_of_digits(page), _has_demo_address(page))
        kept = page.__dict__["_template"] = sum(signs) >= _SIGNS_NEEDED
    return bool(kept)


def _has_filler(page: Page) -> bool:
    return any(words in page.lowered for words in _FILLER)


def _leads_to_front_doors(page: Page) -> bool:
    doors = 0
    for element in page.links:
        href = element.get("href")
        if "://" not in href:
            continue
        href = href.strip()
        if listed(host_of(href), "template-link") and _FRONT_DOOR.match(
            href.partition("://")[2].partition("?")[0][len(host_of(href)) :]
        ):
            doors += 1
    return doors >= _DOORS_NEEDED


def _has_demo_address(page: Page) -> bool:
    return any(words in page.lowered for words in _DEMO_WORDS) and _DEMO_ADDRESS.search(page.text) is not None


def _has_row_of_digits(page: Page) -> bool:
    numbers = (element.get("href")[4:] for element in page.links if element.get("href")[:4].lower() == "tel:")
    return any(_ROW.search(number) for number in numbers)
