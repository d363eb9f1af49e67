"""Watches: who is told when something of interest changes, by a file, a digest or a signed call. Each change once.

What is told is written down before and after: whoever dies in between is followed by another one, which tells the same
changes under the same delivery id, and what was found since then in a delivery of its own. A file and a digest are then
the same files again; a webhook sees the id twice. So does one that did not answer well: it may have taken it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import socket
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.freshness.changes import read_changes
from cocli.app.indexes.indexes import campaign_indexes
from cocli.errors import ConfigError, NotFound, UsageError
from cocli.formats import json_records
from cocli.keys.paths import ExportKey, WatchStateKey
from cocli.models.freshness.watch import WatchDelivery, WatchState
from cocli.models.record import render_utc
from cocli.results.exports.filters import BusinessFilter
from cocli.results.exports.tables import CellType, TableColumn
from cocli.store.settled import create, swap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from cocli.app.freshness.changes import ToldChange
    from cocli.app.workspace import Campaign, Workspace
    from cocli.models.campaign import WatchSection

_LOG = logs.get_logger(__name__)
_FIRST_LOOK = timedelta(hours=1)
"""A new watch is told what was found in the last hour: the taking of stock before its first look is news to it."""
_TELLING = timedelta(minutes=5)
"""How long somebody may take to tell; a call has ten seconds."""


@dataclass(slots=True)
class WatchReport:
    """What became of one watch."""

    watch: str
    new: int = 0
    """Changes that nobody was told of yet."""
    told: int = 0
    written: list[str] = field(default_factory=list)
    problem: str | None = None


def tell_watches(workspace: Workspace, name: str, *, dry_run: bool = False) -> list[WatchReport]:
    """Tell every watch of a campaign what is new to it."""
    campaign = workspace.campaign(name)
    watches = campaign.settings.model().watch
    if not watches:
        return []
    changes = read_changes(campaign_indexes(workspace, name)).changes
    return [_Telling(campaign, watch, dry_run=dry_run).tell(changes) for watch in watches]


class _Telling:
    """One watch, now."""

    def __init__(self, campaign: Campaign, watch: WatchSection, *, dry_run: bool) -> None:
        self._campaign = campaign
        self._watch = watch
        self._dry_run = dry_run
        self._store = campaign.store
        self._key = str(WatchStateKey(campaign.name, watch.name))
        self._state, self._etag = self._read()
        self._report = WatchReport(watch.name)

    def tell(self, changes: Sequence[ToldChange]) -> WatchReport:
        wanted = [told for told in changes if self._is_of_interest(told)]
        known = set(self._state.told)
        new = [told for told in wanted if told.change.change_id not in known]
        self._report.new = len(new)
        if self._dry_run:
            return self._report
        if not new and self._etag is None:
            self._write(problem=None)
        telling = self._state.telling
        if new and telling is not None and telling.until > self._store.now():
            self._report.problem = f"{telling.by} is telling it"
            return self._report
        begun = telling.changes if telling else ()
        again = [told for told in new if told.change.change_id in begun]
        for part in (again, [told for told in new if told not in again]):
            if part and self._report.problem is None:
                self._tell_part(wanted, part)
        return self._report

    def _tell_part(self, wanted: Sequence[ToldChange], part: Sequence[ToldChange]) -> None:
        """Tell some changes in one delivery; those of one that was begun before under its id and its time."""
        now, begun = self._store.now(), self._state.telling
        ids = tuple(told.change.change_id for told in part)
        mine = WatchDelivery(changes=ids, by=socket.gethostname() or "unknown", until=now + _TELLING, at=now)
        if begun is not None and set(ids) <= set(begun.changes):
            mine = mine.model_copy(update={"changes": begun.changes, "at": begun.at or now})
        if not self._write(telling=mine):
            self._report.problem = "another machine is telling it"
            return
        known = set(self._state.told)
        self._report.problem = self._deliver(mine, part, [told for told in wanted if told.change.change_id in known])
        if self._report.problem is None:
            self._report.told += len(part)
            self._write(telling=None, told=(*self._state.told, *ids), told_at=now, problem=None)
        else:
            _LOG.warning("watch %s: %s", self._watch.name, self._report.problem)
            self._write(telling=mine.model_copy(update={"until": now}), problem=self._report.problem)

    def _is_of_interest(self, told: ToldChange) -> bool:
        watch = self._watch
        if told.change.found_at < self._state.begun or (watch.kinds and told.change.kind not in watch.kinds):
            return False
        wanted = BusinessFilter(cities=watch.cities, categories=watch.categories, tags=watch.tags)
        return told.business is not None and wanted.accepts(told.business)

    # --- telling

    def _deliver(self, begun: WatchDelivery, new: Sequence[ToldChange], before: Sequence[ToldChange]) -> str | None:
        """Why somebody was not reached; None where all were."""
        delivery, now = hashlib.sha256("".join(begun.changes).encode()).hexdigest()[:16], begun.at or begun.until
        fields, name = self._watch.fields, self._watch.name
        if self._watch.file:
            rows = [_row(told) for told in (*before, *new)]
            self._export(f"watches/{name}.csv", _csv(fields, rows))
        if self._watch.digest:
            from cocli.results.digests import DigestHead, render_digest

            head = DigestHead(self._campaign.name, name, delivery, now, self._watch.to)
            message = render_digest(head, fields, [_row(told) for told in new])
            self._export(f"watches/{name}/{now:%Y%m%d}-{delivery}.eml", message)
        if self._watch.webhook is None:
            return None
        return self._call(self._watch.webhook, delivery, [_row(told) for told in new], now)

    def _export(self, name: str, data: bytes) -> None:
        key = str(ExportKey(self._campaign.name, name))
        self._store.put(key, data)
        self._report.written.append(key)

    def _call(self, url: str, delivery: str, rows: Sequence[dict[str, str | None]], now: datetime) -> str | None:
        from cocli.app.web.kept.webhooks import signature  # here: most campaigns call nobody
        from cocli.app.web.webhook_caller import WebhookCaller

        said = {"event": "changes", "campaign": self._campaign.name, "watch": self._watch.name, "at": render_utc(now)}
        chosen = [{name: row.get(name) for name in self._watch.fields} for row in rows]
        body = json.dumps({**said, "changes": chosen}, sort_keys=True).encode()
        stamp = str(int(self._store.now().timestamp()))  # of this call: receivers refuse what was signed long ago
        headers = {
            "Content-Type": "application/json",
            "X-Cocli-Event": "changes",
            "X-Cocli-Delivery": delivery,
            "X-Cocli-Timestamp": stamp,
            "X-Cocli-Signature": signature(_secret(self._watch), stamp, body),
        }
        caller = WebhookCaller(self._campaign.settings.model().web.webhook_networks)
        try:
            caller.check(url)
            return caller.call(url, body, headers)
        except UsageError as error:  # told like every other reason why nobody was reached
            return error.message
        finally:
            caller.close()

    # --- what was told

    def _read(self) -> tuple[WatchState, str | None]:
        try:
            stored = self._store.get(self._key)
        except NotFound:
            begun = self._store.now() - _FIRST_LOOK
            return WatchState(campaign=self._campaign.name, name=self._watch.name, begun=begun, nonce=_nonce()), None
        return json_records.read(WatchState, stored.data, file=self._key), stored.etag

    def _write(self, **changes: object) -> bool:
        state = self._state.with_changes(**changes, nonce=_nonce())
        data = json_records.render(state)
        if self._etag is None:
            etag = create(self._store, self._key, data)
        else:
            etag = swap(self._store, self._key, data, self._etag)
        if etag is None:
            return False
        self._state, self._etag = state, etag
        return True


def _row(told: ToldChange) -> dict[str, str | None]:
    change, business = told.change, told.business
    row: dict[str, str | None] = {
        "name": change.name,
        "kind": change.kind,
        "before": change.before,
        "after": change.after,
        "found_at": render_utc(change.found_at),
        "reason": change.reason,
        "company_hash": change.company_hash,
    }
    if business is not None:
        row |= {
            "company_hash": business.company_hash,
            "city": business.city,
            "phone": business.phone_e164 or business.phone,
            "email": business.primary_email,
            "website": business.website,
        }
    return row


def _csv(fields: Sequence[str], rows: Iterable[dict[str, str | None]]) -> bytes:
    """A table that people open in a spreadsheet: no text in it is a formula."""
    from cocli.results.exports.csv_files import write_marked_csv_table

    out = io.BytesIO()
    columns = [TableColumn(name, CellType.TEXT) for name in fields]
    write_marked_csv_table(columns, ([row.get(name) for name in fields] for row in rows), out)
    return out.getvalue()


def _secret(watch: WatchSection) -> str:
    if watch.secret_file is None:
        raise ConfigError(reason=f"the watch {watch.name} has a webhook and no secret_file: its calls are signed")
    path = os.path.expanduser(watch.secret_file)
    try:
        with open(path, encoding="utf-8") as file:
            secret = file.read().strip()
    except OSError as error:
        raise ConfigError(reason=f"secret_file {path} of the watch {watch.name}: {error.strerror}") from error
    if not secret:
        raise ConfigError(reason=f"secret_file {path} of the watch {watch.name} is empty")
    return secret


def _nonce() -> str:
    return secrets.token_hex(12)
