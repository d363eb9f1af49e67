"""Write a site where browsers find it, so that whoever looks at any moment finds pages and data that fit together.

- What is named by its content is written first and never changed, then data, then what names data, `index.html` last.
- Only what changed is written. What was written is noted as it goes: who is killed in the middle goes on there.
- What is no longer part of the site stays for those who have its pages open: it is removed by a later deployment, or
  at once where something was excluded since, or `purge` asks for it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from cocli.app.web.data_file import JSON, bytes_file
from cocli.app.web.deploy.invalidation import invalidate
from cocli.app.web.deploy.places import content_etag
from cocli.app.web.deploy.published import RECORD
from cocli.app.workspace import no_progress
from cocli.config.version import __version__
from cocli.errors import FormatError, UsageError
from cocli.formats import json_records
from cocli.models.web.deployed import DeployedFile, DeployedSite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.web.data_file import DataFile
    from cocli.app.web.deploy.places import DeployPlace, PlacedFile
    from cocli.app.web.deploy.published import PublishedSite, SiteFile
    from cocli.app.workspace import Progress

OURS = ("assets/", "data/")
_FILES_OF_THE_ROOT = ("index.html", "robots.txt", "_headers")
GRACE = timedelta(hours=1)
"""Younger files are never removed as leftovers: another deployment may be writing them."""
_LOT, _LOT_BYTES = 32, 16_000_000
_NOTED_EVERY = 8
"""Lots between two notes of what was written."""


@dataclass(frozen=True, slots=True)
class DeployOptions:
    """How a site is written."""

    public: bool = False
    guarded: bool = False
    """Something in front of the place asks who may read."""
    purge: bool = False
    all_files: bool = False
    """Write also what has not changed."""
    dry_run: bool = False
    distribution: str | None = None
    profile: str | None = None


@dataclass(slots=True)
class DeployReport:
    """What was done."""

    place: str = ""
    campaigns: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    bytes: int = 0
    invalidation: str | None = None
    left_out: list[str] = field(default_factory=list)
    expires_at: str | None = None
    dry_run: bool = False


def deploy_site(
    published: PublishedSite, place: DeployPlace, options: DeployOptions, progress: Progress = no_progress
) -> DeployReport:
    """Write what changed, remove what is over, tell the edge."""
    _refuse_unguarded(published, place, options)
    deployment = _Deployment(published, place, options)
    deployment.write(progress)
    report = deployment.report
    if not options.dry_run and options.distribution is not None:
        changed = [path for path in (*report.written, *report.removed) if path not in deployment.lasting]
        nonce = secrets.token_hex(8)
        report.invalidation = invalidate(options.distribution, changed, nonce=nonce, profile=options.profile)
    return report


def remove_site(place: DeployPlace, *, only_expired: bool = False, dry_run: bool = False) -> DeployReport:
    """Take a site away: the page first, so that nobody begins to read what goes."""
    report = DeployReport(place=place.address, dry_run=dry_run)
    record = read_record(place)
    if only_expired and (record is None or record.expires_at is None or record.expires_at > place.now()):
        return report
    there = [path for path in place.existing() if is_ours(path)]
    report.removed = sorted(there, key=lambda path: (path != "index.html", path == RECORD, path))
    if not dry_run:
        for _, paths in groupby(report.removed, key=lambda path: (path != "index.html", path == RECORD)):
            place.remove(list(paths))
    return report


def is_ours(path: str) -> bool:
    """Whether a deployment wrote a path: what others put there stays."""
    return path.startswith(OURS) or path in _FILES_OF_THE_ROOT


def read_record(place: DeployPlace) -> DeployedSite | None:
    data = place.read(RECORD)
    if data is None:
        return None
    try:
        return json_records.read(DeployedSite, data, file=RECORD)
    except FormatError:  # of another version, or damaged: then everything is compared by its content
        return None


def _refuse_unguarded(published: PublishedSite, place: DeployPlace, options: DeployOptions) -> None:
    if options.public or not published.redaction.has_contacts:
        return
    if not options.guarded:
        raise UsageError(
            reason=f"{place.address} would hold phones and e-mail addresses, and nothing is said to guard it",
            hint='Set [web] guard = "edge" where a login stands in front; or leave contacts out with --no-emails and '
            "--fields; or write --public, if everybody may read them.",
        )


class _Deployment:
    """One deployment, from what is there to what shall be."""

    def __init__(self, published: PublishedSite, place: DeployPlace, options: DeployOptions) -> None:
        self.published, self.place, self.options = published, place, options
        self.report = DeployReport(
            place=place.address,
            campaigns=published.campaigns(),
            left_out=list(published.redaction.left_out),
            dry_run=options.dry_run,
            expires_at=published.expires_at.astimezone(UTC).isoformat() if published.expires_at else None,
        )
        self.former = read_record(place)
        self.there = place.existing()
        self.noted = {file.path: file for file in self.former.files} if self.former else {}
        self.lasting: set[str] = set()
        self.current: set[str] = {RECORD}
        self.exclusions = published.exclusions()

    def write(self, progress: Progress) -> None:
        done = 0
        if "robots.txt" in self.there:
            self._refuse_open_place()
        for number, lot in enumerate(_lots(self._changed())):
            if not self.options.dry_run:
                self._put(lot)
                if number % _NOTED_EVERY == 0:
                    self._note(whole=False)
            done += len(lot)
            progress(done)
        gone = self._leftovers()
        self.report.removed = gone
        if not self.options.dry_run:
            self._note(whole=True)
            self.place.remove(gone)

    def _changed(self) -> Iterator[SiteFile]:
        for file in self.published.files():
            path = file.file.path
            self.current.add(path)
            if file.is_lasting:
                self.lasting.add(path)
            if self._is_there(file.file) and not self.options.all_files:
                self.report.unchanged += 1
            else:
                self.report.written.append(path)
                self.report.bytes += len(file.file.data)
                yield file

    def _is_there(self, file: DataFile) -> bool:
        """Whether the place has the file: with these bytes, or with others that say the same."""
        found = self.there.get(file.path)
        if found is None:
            return False
        noted = self.noted.get(file.path)
        if noted is not None and noted.says == file.etag and noted.stored == found.etag:
            return True
        return found.etag.strip('"') == content_etag(file.data)

    def _put(self, lot: list[SiteFile]) -> None:
        etags = self.place.put([file.file for file in lot])
        for file, etag in zip(lot, etags, strict=True):
            self.noted[file.file.path] = DeployedFile(path=file.file.path, says=file.file.etag, stored=etag)
            if file.file.path == "robots.txt":
                self._refuse_open_place()

    def _refuse_open_place(self) -> None:
        """Asked after the first file, which says nothing of anybody: a guard that all can walk around is none."""
        if self.options.public or not self.published.redaction.has_contacts:
            return
        if self.place.is_open_to_all("robots.txt"):
            raise UsageError(
                reason=f"Everybody can read {self.place.address}: whatever stands in front can be walked around",
                hint="Block public access of the bucket; or write --public, if everybody may read it.",
            )

    def _note(self, *, whole: bool) -> None:
        files = (file for path, file in sorted(self.noted.items()) if not whole or path in self.current)
        record = DeployedSite(
            at=self.place.now(),
            version=__version__,
            campaigns=tuple(self.report.campaigns),
            exclusions=self.exclusions if whole or self.former is None else self.former.exclusions,
            expires_at=self.published.expires_at,
            whole=whole,
            files=tuple(files),
        )
        self.place.put([bytes_file(RECORD, json_records.render(record), JSON)])

    def _leftovers(self) -> list[str]:
        """What is no longer part of the site. Files of the deployment before stay, unless somebody was excluded."""
        was_excluded = self.former is not None and self.former.exclusions != self.exclusions
        kept = set() if self.options.purge or self.former is None else {file.path for file in self.former.files}
        now = self.place.now()

        def is_over(path: str, found: PlacedFile) -> bool:
            if path in self.current or not is_ours(path):
                return False
            if self.options.purge or (was_excluded and path.startswith("data/")):
                return True
            return path not in kept and now - found.modified > GRACE

        return sorted(path for path, found in self.there.items() if is_over(path, found))


def _lots(files: Iterable[SiteFile]) -> Iterator[list[SiteFile]]:
    """Some files of one phase at a time, in their order."""
    for _, group in groupby(files, key=lambda file: file.phase):
        lot: list[SiteFile] = []
        size = 0
        for file in group:
            lot.append(file)
            size += len(file.file.data)
            if len(lot) >= _LOT or size >= _LOT_BYTES:
                yield lot
                lot, size = [], 0
        if lot:
            yield lot
