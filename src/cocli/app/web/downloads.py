"""The lists that a campaign hands on, as files: made when they are asked for, and kept as long as nothing changed.

A file lies in the cache of this machine under the hash of what it was made from (`data_basis`), beside a line that says
how many rows it has. So a second request costs one look, and the dashboard knows the counts of what was made.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.results.exports import ExportOptions, export_to_file
from cocli.app.whole_file import whole_file
from cocli.config.private import make_private
from cocli.config.version import __version__
from cocli.errors import NotFound
from cocli.keys.paths import CampaignConfigKey, LatestKey
from cocli.models.record import render_utc
from cocli.models.web.dashboard import WebDownload
from cocli.results.exports.filters import BusinessFilter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.web.site import DataSite
    from cocli.store.base import ObjectInfo, Store

_INDEXES = ("prospects", "emails")
_PACKED = "/shards/"
"""What a version is made of never changes: the pointer to the version says enough."""
_WRITTEN_BY_PEOPLE = ("companies/", "people/")


@dataclass(frozen=True, slots=True)
class DownloadKind:
    """A list: the end of its name, what it is for, and what goes into it."""

    ending: str
    format: str
    purpose: str
    content_type: str
    with_email: bool = False
    columns: tuple[str, ...] = ()


KINDS = (
    DownloadKind("-emails.csv", "csv", "everybody with an e-mail address", "text/csv; charset=utf-8", with_email=True),
    DownloadKind(
        ".xlsx",
        "xlsx",
        "for Excel, LibreOffice, Google Sheets and Numbers",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    DownloadKind(".csv", "csv", "for every spreadsheet, and for programs", "text/csv; charset=utf-8"),
    DownloadKind("-hubspot.csv", "hubspot", "for HubSpot's import of companies", "text/csv; charset=utf-8"),
    DownloadKind(".vcf", "vcard", "for address books", "text/vcard; charset=utf-8"),
    DownloadKind(".parquet", "parquet", "for DuckDB and data frames", "application/vnd.apache.parquet"),
    DownloadKind(".geojson", "geojson", "for maps", "application/geo+json"),
    DownloadKind(".kml", "kml", "for Google Earth and My Maps", "application/vnd.google-earth.kml+xml"),
)


def data_basis(indexes: Indexes) -> str:
    """A hash of what the lists are made from: records, settings, what people wrote, and the program."""
    name, store = needed_campaign(indexes).name, indexes.store
    digest = hashlib.sha256(f"{__version__}\n".encode())
    for index in _INDEXES:
        ref = indexes.ref(index)
        digest.update(f"{index} {_etag(store, str(LatestKey(ref)))}\n".encode())
        _add_listed(digest, (info for info in store.list(ref.folder) if _PACKED not in info.key))
    digest.update(f"left alone {indexes.left_alone.listed().digest}\n".encode())
    digest.update(f"config {_etag(store, str(CampaignConfigKey(name)))}\n".encode())
    for prefix in _WRITTEN_BY_PEOPLE:
        _add_listed(digest, store.list(prefix))
    return digest.hexdigest()


def _add_listed(digest: hashlib._Hash, listed: Iterable[ObjectInfo]) -> None:
    for info in listed:
        digest.update(f"{info.key} {info.size} {info.etag or info.modified.isoformat()}\n".encode())


def list_downloads(site: DataSite, name: str) -> tuple[WebDownload, ...]:
    """The lists, the most wanted first; with counts, where they were made since anything changed."""
    indexes = campaign_indexes(site.workspace, name)
    basis = data_basis(indexes)
    return tuple(_listed(indexes, name, kind, basis) for kind in KINDS)


def _listed(indexes: Indexes, name: str, kind: DownloadKind, basis: str) -> WebDownload:
    file = f"{name}{kind.ending}"
    made = _sidecar(_path(indexes, file, basis))
    return WebDownload(
        name=file,
        link=f"data/{name}/exports/{file}",
        purpose=kind.purpose,
        rows=made["rows"] if made else None,
        bytes=made["bytes"] if made else None,
        at=datetime.fromisoformat(made["at"]) if made else None,
    )


@dataclass(frozen=True, slots=True)
class MadeDownload:
    """A list as a file of this machine."""

    path: str
    name: str
    content_type: str
    rows: int


def make_download(site: DataSite, campaign: str, file: str) -> MadeDownload:
    """The list of a name; `NotFound` if there is none of it."""
    kind = next((kind for kind in KINDS if file == f"{campaign}{kind.ending}"), None)
    if kind is None:
        raise NotFound(key=f"{campaign}/exports/{file}", hint=f"There are: {', '.join(_names(campaign))}")
    indexes = campaign_indexes(site.workspace, campaign)
    basis = data_basis(indexes)
    path = _path(indexes, file, basis)
    made = _sidecar(path)
    if made is None:
        options = ExportOptions(
            format=kind.format, columns=kind.columns, wanted=BusinessFilter(with_email=kind.with_email)
        )
        exported = export_to_file(indexes, options, path)
        made = {"rows": exported.rows, "bytes": os.path.getsize(path), "at": render_utc(site.now())}
        _note(path, made)
        _forget_older(path, file)
    return MadeDownload(path, file, kind.content_type, int(made["rows"]))


def _names(campaign: str) -> list[str]:
    return [f"{campaign}{kind.ending}" for kind in KINDS]


def _path(indexes: Indexes, file: str, basis: str) -> str:
    folder = os.path.join(indexes.cache, "downloads", needed_campaign(indexes).name)
    make_private(folder)
    return os.path.join(folder, f"{basis[:32]}-{file}")


def _sidecar(path: str) -> dict[str, Any] | None:
    try:
        with open(f"{path}.json", "rb") as file:
            made = json.load(file)
        return made if os.path.getsize(path) == made["bytes"] else None
    except (OSError, ValueError, KeyError, TypeError):  # not made, half removed: it is made again
        return None


def _note(path: str, made: dict[str, Any]) -> None:
    with whole_file(f"{path}.json") as file:
        file.write(json.dumps(made).encode())


def _forget_older(path: str, file: str) -> None:
    folder, kept = os.path.split(path)
    for name in os.listdir(folder):
        basis, _, rest = name.partition("-")
        if rest.removesuffix(".json") == file and not kept.startswith(basis):
            os.unlink(os.path.join(folder, name))


def _etag(store: Store, key: str) -> str | None:
    try:
        return store.get(key).etag
    except NotFound:
        return None
