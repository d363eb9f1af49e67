"""Is this page a wall against programs instead of the website: a challenge, a captcha, "access denied"?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.triage.signals import code_of, is_thin

if TYPE_CHECKING:
    from cocli.pipeline.websites.page.page import Page

_EMPTY = 40
_CHALLENGE = re.compile(
    r"/cdn-cgi/challenge-platform/|cf[_-]chl[_-]|cf-browser-verification|_incapsula_resource|captcha-delivery\.com|"
    r"px-captcha|perimeterx|sucuri_cloudproxy|ddos-guard|distil_r_|awswafcookie|aws-waf-token|"
    r"token\.awswaf\.com|sgcaptcha|"
    r"imunify360|/_sec/cp_challenge|fastly-challenge|kpsdk|arkoselabs",
    re.IGNORECASE,
)
_CAPTCHA = re.compile(
    r"challenges\.cloudflare\.com|hcaptcha\.com|google\.com/recaptcha|recaptcha\.net|friendlycaptcha", re.IGNORECASE
)
_WORDS = re.compile(either("wall.phrase"), re.IGNORECASE)


def wall_evidence(page: Page, status: int) -> tuple[str, ...]:
    """Why this is a wall; empty where it is not. Beside a refusing status one sign is enough, else it needs two."""
    if not is_thin(page):
        return ()
    code = code_of(page)
    signs = []
    if match := _CHALLENGE.search(code):
        signs.append(f"its scripts have the challenge {match[0]}")
        if is_thin(page, _EMPTY) and not page.links:
            signs.append("there is nothing else on it")
    if match := _CAPTCHA.search(code):
        signs.append(f"its scripts have the captcha {match[0]}")
    for where, text in (("title", page.title), ("text", page.text)):
        if match := _WORDS.search(text):
            signs.append(f'its {where} says "{match[0]}"')
    if len(signs) > 1 or (signs and status >= 400):
        return tuple(signs)
    return ()
