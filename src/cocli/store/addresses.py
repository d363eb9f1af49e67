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
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_REGION = re.compile(r"[A-Za-z0-9-]{1,64}")
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45}")
_PATH = re.compile(r"[!-~]*")
_S3_OPTIONS = ("endpoint", "region", "profile")
_S3_SECRETS = "Put them into the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or into ~/.aws/credentials."
_AZURE_OPTIONS = ("account", "endpoint")
_AZURE_SECRETS = "Put the key into the environment (AZURE_STORAGE_ACCOUNT_KEY)."


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
    bucket, prefix, options = _bucket_of(url, _S3_OPTIONS, _S3_SECRETS)
    from cocli.store.s3 import S3Store

    return S3Store(bucket, prefix=prefix, **options)


def open_azure(url: str) -> Store:
    container, prefix, options = _bucket_of(url, _AZURE_OPTIONS, _AZURE_SECRETS)
    account = options.get("account") or os.environ.get("AZURE_STORAGE_ACCOUNT_NAME")
    if not account:
        hint = "Write az://container/prefix?account=NAME, or set AZURE_STORAGE_ACCOUNT_NAME."
        raise StoreUrlError(url=without_secrets(url), reason="it names no account of Azure", hint=hint)
    from cocli.store.azure import AzureBlobStore

    return AzureBlobStore(container, account=account, prefix=prefix, endpoint=options.get("endpoint"))


def _bucket_of(url: str, known: tuple[str, ...], secrets_hint: str) -> tuple[str, str, dict[str, str]]:
    """Bucket, prefix and options of an address; what cannot be one is refused."""
    shown = without_secrets(url)
    if not url.isprintable():  # the parser would leave line breaks out, and mean another bucket
        raise StoreUrlError(url=shown, reason="it has characters that cannot be seen")
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        has_secrets = parts.username or parts.password or "@" in urlsplit(options.get("endpoint", "")).netloc
    except ValueError as error:
        raise StoreUrlError(url=shown, reason=str(error)) from error
    if has_secrets:
        raise StoreUrlError(url=shown, reason="credentials do not belong into an address", hint=secrets_hint)
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise StoreUrlError(url=shown, reason=f"unknown option {unknown[0]} (known: {', '.join(known)})")
    if not parts.netloc:
        raise StoreUrlError(url=shown, reason="it names no bucket")
    if reason := _wrong_part(parts.netloc, options):
        raise StoreUrlError(url=shown, reason=reason)
    prefix = parts.path.strip("/")
    try:
        if prefix:
            check_key(prefix)
    except InvalidKey as error:
        raise StoreUrlError(url=shown, reason=f"its prefix is not valid: {error.message}") from error
    return parts.netloc, prefix, {name: value for name, value in options.items() if value}


def _wrong_part(bucket: str, options: dict[str, str]) -> str | None:
    """What no server can be called by. The client library takes it, and breaks down at the first request."""
    if not _BUCKET.fullmatch(bucket):
        return "no bucket has such a name"
    if (region := options.get("region")) and not _REGION.fullmatch(region):
        return "no region has such a name"
    endpoint = options.get("endpoint")
    if endpoint and not endpoint.startswith(("http://", "https://")):
        return "its endpoint does not begin with https:// or http://"
    parts = urlsplit(endpoint or "https://host")
    try:
        is_address = bool(_HOST.fullmatch(parts.hostname or "") and _PATH.fullmatch(parts.path)) and parts.port != 0
    except ValueError:  # of a port that is no number, or too large
        is_address = False
    return None if is_address else "its endpoint is no address of a server"
