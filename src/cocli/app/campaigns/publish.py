"""A campaign's results where people open them: report, lists and maps under one prefix, with a page that leads to them.

Each publication writes its files into a folder of its own (`sets/{time}-{nonce}/`), and then the page `index.html`,
which leads to them: whoever is killed in between leaves the earlier page with all of its files. Beside the page, every
file has a stable name (`plumbers.xlsx`), written after the page. The files of the publication before are kept for
those who have its page open; older ones are removed. What was published, where and how is kept with the campaign, so
that any machine can do it again (`refresh_published`).
"""

from __future__ import annotations

import hashlib
import re
import secrets
import socket
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cocli.app.campaigns.publication import is_expiring, is_ours, publication_key, read_publication
from cocli.app.campaigns.publish_places import FolderPlace, LinkOptions, StorePlace
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.results.downloads import write_downloads
from cocli.app.results.report import make_report, render_html, with_businesses
from cocli.app.whole_file import absolute
from cocli.app.workspace import no_progress
from cocli.config.version import __version__
from cocli.errors import NotFound
from cocli.formats import json_records
from cocli.keys.paths import CampaignConfigKey, ExportKey, LatestKey
from cocli.models.publication import Publication
from cocli.results.reports.businesses import BusinessList
from cocli.results.reports.published_page import FileLink, PublishedPage, render_published
from cocli.store.kinds import FOLDER, scheme_of
from cocli.store.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.campaigns.publish_places import PublishPlace
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Progress, Workspace
    from cocli.models.publication import PublishedFile
    from cocli.store.base import Store

INDEX_PAGE = "index.html"
REPORT_PAGE = "report.html"
REST = timedelta(minutes=5)
"""Between two publications that nobody asked for."""
_OWN_FOLDER = "published"
_SETS = "sets/"
_INDEXES = ("prospects", "emails", "target-tiles")
_WRITTEN_BY_PEOPLE = ("companies/", "people/")
_SET_TIME = "%Y%m%dT%H%M%SZ"
_SET = re.compile(r"sets/(\d{8}T\d{6}Z)-[0-9a-f]{6}/")
_LEFTOVER = timedelta(hours=6)
"""After so long nobody is writing a set any more that no page leads to."""


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """Where a publication goes, and how people get at it."""

    to: str | None = None
    """A folder, or the address of a store; None for the campaign's own."""
    links: LinkOptions = field(default_factory=LinkOptions)


@dataclass(slots=True)
class PublishReport:
    campaign: str
    path: str = ""
    """Of the page, as a person would type it."""
    link: str | None = None
    """To the page, for a browser."""
    until: datetime | None = None
    """When signed links stop working."""
    prospects: int = 0
    files: list[dict[str, object]] = field(default_factory=list)
    problem: str | None = None


def publish_campaign(
    workspace: Workspace, name: str, options: PublishOptions, progress: Progress = no_progress
) -> PublishReport:
    """Write everything, and the page that leads to it last."""
    indexes = campaign_indexes(workspace, name)
    with _opened_place(indexes, options) as place:
        return _published(workspace, indexes, place, options.to, progress)


def refresh_published(workspace: Workspace, name: str, *, rest: timedelta | None = None) -> PublishReport | None:
    """Publish again what was published before, where and as it was. None where nothing was, or nothing changed.

    Meant to be called often: it asks for a few objects and lists the pages of companies, and publishes at most once in
    five minutes, or once in `rest`. Signed links are renewed when half of their time is over.
    """
    indexes = campaign_indexes(workspace, name)
    last = read_publication(indexes.store, name)
    if last is None or not is_ours(last):
        return None
    age = indexes.store.now() - last.at
    if age < (REST if rest is None else rest):
        return None
    if not is_expiring(last, age) and last.basis == _basis(indexes):
        return None
    valid = timedelta(seconds=last.valid_seconds) if last.links == "signed" else None
    links = LinkOptions(valid, last.links == "public", last.url)
    return publish_campaign(workspace, name, PublishOptions(last.to, links))


@contextmanager
def _opened_place(indexes: Indexes, options: PublishOptions) -> Iterator[PublishPlace]:
    if options.to is None:
        own = str(ExportKey(needed_campaign(indexes).name, f"{_OWN_FOLDER}/{INDEX_PAGE}"))
        yield StorePlace(indexes.store, own.removesuffix(INDEX_PAGE), options.links)
        return
    if _is_folder(options.to):
        yield FolderPlace(options.to, options.links)
        return
    store = open_store(options.to)
    try:
        yield StorePlace(store, "", options.links)
    finally:
        store.close()


def _is_folder(address: str) -> bool:
    return scheme_of(address) == FOLDER


# --- the files


def _published(
    workspace: Workspace, indexes: Indexes, place: PublishPlace, to: str | None, progress: Progress
) -> PublishReport:
    name = needed_campaign(indexes).name
    basis = _basis(indexes)  # before anything is read: what changes meanwhile is published next time
    last, now = read_publication(indexes.store, name), indexes.store.now()
    folder = f"{_SETS}{now.astimezone(UTC).strftime(_SET_TIME)}-{secrets.token_hex(3)}/"
    made = with_businesses(workspace, make_report(workspace, name, progress), progress)
    businesses = made.businesses or BusinessList()
    with tempfile.TemporaryDirectory(prefix="cocli-publish-") as disk:
        downloads = write_downloads(indexes, disk, has_plan=bool(made.tiles), progress=progress)
        files = downloads.files
        links = [_link(place, folder, written.file) for written in files]
        report = render_html(made, [_beside(place, link) for link in links]).encode()
        for written in files:
            place.put(folder + written.file.name, written.data)
        place.put(folder + REPORT_PAGE, report)
        page = PublishedPage(
            campaign=name,
            at=now,
            version=__version__,
            prospects=businesses.total,
            with_email=businesses.with_email,
            report=place.inner_link(folder + REPORT_PAGE),
            files=links,
            until=now + place.options.valid if place.options.valid else None,
            credits=downloads.credits,
        )
        place.put(INDEX_PAGE, render_published(page).encode())
        for written in files:
            place.put(written.file.name, written.data)
        place.put(REPORT_PAGE, report)
    former = last.folder if last else None
    publication = Publication(
        campaign=name,
        at=now,
        folder=folder,
        former=former,
        basis=basis,
        files=tuple(written.file for written in files),
        **_remembered(to, place.options),
    )
    indexes.store.put(publication_key(name), json_records.render(publication))
    _remove_leftovers(place, {folder, former or folder}, last.former if last else None, now)
    return _report(place, page)


def _link(place: PublishPlace, folder: str, file: PublishedFile) -> FileLink:
    return FileLink(
        name=file.name,
        link=place.inner_link(folder + file.name),
        bytes=file.bytes,
        purpose=file.purpose,
        rows=file.rows,
        stable=place.inner_link(file.name),
    )


def _beside(place: PublishPlace, link: FileLink) -> FileLink:
    """The same link from the report, which lies in the folder of the file."""
    if place.options.valid is not None:
        return link
    return replace(link, link=quote(link.name))


# --- afterwards


def _remembered(to: str | None, options: LinkOptions) -> dict[str, Any]:
    """What is needed to publish in the same way again."""
    links = "public" if options.public else "plain"
    valid = options.valid or timedelta(0)
    is_folder = to is not None and _is_folder(to)
    return {
        "to": absolute(to) if to is not None and is_folder else to,
        "host": socket.gethostname() if is_folder else None,
        "links": "signed" if options.valid else links,
        "valid_seconds": int(valid.total_seconds()),
        "url": options.url,
    }


def _remove_leftovers(place: PublishPlace, kept: set[str], old: str | None, now: datetime) -> None:
    """Remove the set before the former one, and, after some hours, the sets of publications that were killed."""
    gone: list[str] = []
    for name in place.names(_SETS):
        found = _SET.match(name)
        if found is None or found[0] in kept:
            continue
        begun = datetime.strptime(found[1], _SET_TIME).replace(tzinfo=UTC)
        if found[0] == old or now - begun > _LEFTOVER:
            gone.append(name)
    place.remove(gone)


def _report(place: PublishPlace, page: PublishedPage) -> PublishReport:
    files: list[dict[str, object]] = [
        {"name": file.name, "rows": file.rows, "bytes": file.bytes, "link": place.outer_link(file.name)}
        for file in page.files
    ]
    return PublishReport(
        campaign=page.campaign,
        path=place.where(INDEX_PAGE),
        link=place.outer_link(INDEX_PAGE),
        until=page.until,
        prospects=page.prospects,
        files=files,
        problem=place.public_problem(INDEX_PAGE),
    )


def _basis(indexes: Indexes) -> str:
    """A hash of what a publication is made from: versions of indexes, pages of people, settings, the program."""
    name = needed_campaign(indexes).name
    digest = hashlib.sha256(f"{__version__}\n".encode())
    keys = [str(LatestKey(indexes.ref(index))) for index in _INDEXES]
    for key in (*keys, str(CampaignConfigKey(name))):
        digest.update(f"{key} {_etag(indexes.store, key)}\n".encode())
    digest.update(f"left alone {indexes.left_alone.listed().digest}\n".encode())
    for prefix in _WRITTEN_BY_PEOPLE:
        for info in indexes.store.list(prefix):
            digest.update(f"{info.key} {info.size} {info.etag or info.modified.isoformat()}\n".encode())
    return digest.hexdigest()


def _etag(store: Store, key: str) -> str | None:
    try:
        return store.get(key).etag
    except NotFound:
        return None
