"""A store in a container of Azure Blob Storage. All that is said of S3 holds here: the same steps, another client.

What differs: names of metadata have no dashes, an object that is not there is `BlobNotFound`, and objects are deleted
one by one. An etag names a write here and not its content.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from obstore.store import AzureStore

from cocli.errors import NotFound
from cocli.store.credentials import StoreAccess
from cocli.store.s3 import CLIENT_TIMEOUTS, S3Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cocli.store.base import ObjectInfo

_KEY = "AZURE_STORAGE_ACCOUNT_KEY"


class AzureBlobStore(S3Store):
    """A container, or the part of it below a prefix. Open one in each process."""

    _writer = "cocliwriter"
    _no_such_key = "BlobNotFound"

    def __init__(self, container: str, *, account: str, prefix: str = "", endpoint: str | None = None) -> None:
        self._endpoint = (endpoint or f"https://{account}.blob.core.windows.net").rstrip("/")
        where = f"az://{container}/{prefix}".rstrip("/")
        source = (
            f"environment ({_KEY})" if os.environ.get(_KEY) else "the client library's own ways (identity of Azure)"
        )
        access = StoreAccess(source, account)
        make = partial(self._azure_client, container, account=account, prefix=prefix, endpoint=endpoint)
        self._open(f"{where} ({self._endpoint})" if endpoint else where, container, access, make)

    def _azure_client(self, container: str, *, retry: Any, account: str, prefix: str, endpoint: str | None) -> Any:
        options: Any = dict(CLIENT_TIMEOUTS, allow_http=bool(endpoint and endpoint.startswith("http://")))
        settings: dict[str, Any] = {"account_name": account}
        if key := os.environ.get(_KEY):
            settings["account_key"] = key
        if endpoint:
            settings["endpoint"] = self._endpoint
        return AzureStore(container, prefix=prefix or None, client_options=options, retry_config=retry, **settings)

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        with suppress(NotFound):  # Azure says so; what is gone already is fine
            super().delete(key, if_match=if_match)

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        """Azure knows no `start_after`: what comes before it is listed as well, and left out here."""
        for info in super().list(prefix):
            if start_after is None or info.key > start_after:
                yield info

    def _delete_batch(self, keys: Sequence[str]) -> None:
        for key in keys:
            self.delete(key)
