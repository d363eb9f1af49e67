"""What is never shown: passwords inside addresses, and parameters that carry a key."""

from __future__ import annotations

import re

MASK = "********"
_USER_INFO = re.compile(r"(?<=://)[^/?#\s@]*:[^/?#\s]*(?=@)|(?<=://)[^/?#\s@:]+(?=@)")
_SECRET_PARAMETER = re.compile(
    r"(?i)([?&;][^=&;\s]*(?:secret|password|passwd|token|key|signature|credential)[^=&;\s]*=)[^&;#\s\"']+"
)

_LOGIN = re.compile(r"(?i)://[^/?#\s@]*:[^/?#\s]*@|\b(?:https?|s3)://[^/?#\s@]+@")


def has_secret(text: str) -> bool:
    """Whether an address carries a password, a token or a key. The name of a user alone is none, for a database."""
    return "://" in text and bool(_LOGIN.search(text) or _SECRET_PARAMETER.search(text))


def mask(text: str) -> str:
    """Hide the credentials that an address may carry: `https://me:pw@host/?token=x`."""
    return _SECRET_PARAMETER.sub(rf"\1{MASK}", _USER_INFO.sub(MASK, text))


def mask_values(value: object) -> object:
    """The same, through lists and tables."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, (list, tuple)):
        return [mask_values(item) for item in value]
    if isinstance(value, dict):
        return {key: mask_values(item) for key, item in value.items()}
    return value
