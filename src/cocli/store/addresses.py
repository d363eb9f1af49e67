"""What an address of a store says: a folder, or a bucket with its options. Which kinds there are is `kinds`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from cocli.errors import InvalidKey, StoreUrlError
from cocli.keys.parts import check_key

if TYPE_CHECKING:
    from cocli.store.base import Store
    from cocli.store.local import Fsync

_USER_INFO = re.compile(r"://[^/?#]*@")
_S3_OPTIONS = ("endpoint", "region", "profile")


def without_secrets(url: str) -> str:
    """An address that can be shown: users and passwords that somebody wrote into it are left out."""
    return _USER_INFO.sub("://", url)


def open_folder(url: str, fsync: Fsync) -> Store:
    path = unquote(urlsplit(url).path) if "://" in url else url
    if not path.strip() or "\0" in path:
        raise StoreUrlError(url=url, reason="it names no folder")
    from cocli.store.local import LocalStore

    return LocalStore(os.path.expanduser(path), fsync=fsync)


def open_s3(url: str) -> Store:
    parts = urlsplit(url)
    shown = without_secrets(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.username or parts.password or "@" in urlsplit(options.get("endpoint", "")).netloc:
        hint = "Put them into the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or into ~/.aws/credentials."
        raise StoreUrlError(url=shown, reason="credentials do not belong into an address", hint=hint)
    unknown = sorted(set(options) - set(_S3_OPTIONS))
    if unknown:
        raise StoreUrlError(url=shown, reason=f"unknown option {unknown[0]} (known: {', '.join(_S3_OPTIONS)})")
    if not parts.netloc:
        raise StoreUrlError(url=shown, reason="it names no bucket")
    if (endpoint := options.get("endpoint")) and not endpoint.startswith(("http://", "https://")):
        raise StoreUrlError(url=shown, reason="its endpoint does not begin with https:// or http://")
    prefix = parts.path.strip("/")
    try:
        if prefix:
            check_key(prefix)
    except InvalidKey as error:
        raise StoreUrlError(url=shown, reason=f"its prefix is not valid: {error.message}") from error
    from cocli.store.s3 import S3Store

    return S3Store(parts.netloc, prefix=prefix, **{name: value for name, value in options.items() if value})
