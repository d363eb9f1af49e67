"""The tables of uploads that are under way: what is to be saved in the end, and which parts are in the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cocli.documents.catalog.database import DatabaseSession
    from cocli.documents.catalog.sql import SqlCatalog


class UploadPart(NamedTuple):
    number: int
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class UploadRow:
    """`request` is what is to be saved, as the caller put it; `received` the bytes that are in the store."""

    upload: str
    account: str
    request: bytes
    received: int
    expires_at: datetime


class UploadTable:
    """The uploads of a catalogue."""

    def __init__(self, catalog: SqlCatalog) -> None:
        self._database = catalog.database
        self._statements = catalog.database.statements

    def begin(self, row: UploadRow) -> None:
        values = {"upload": row.upload, "account": row.account, "request": row.request}
        values["expires_at"] = self._database.write_time(row.expires_at)  # type: ignore[assignment]
        with self._database.transaction() as session:
            session.run(self._statements["begin_upload"], values)

    def find(self, account: str, upload: str, now: datetime) -> UploadRow | None:
        """None also where it has expired, or belongs to another account."""
        values = {"upload": upload, "account": account, "now": self._database.write_time(now)}
        with self._database.read() as session:
            rows = session.rows(self._statements["read_upload"], values)
        if not rows:
            return None
        request, received, expires_at = rows[0]
        return UploadRow(upload, account, bytes(request), received, self._database.read_time(expires_at))

    def count(self, account: str, now: datetime) -> int:
        values = {"account": account, "now": self._database.write_time(now)}
        with self._database.read() as session:
            return int(session.rows(self._statements["count_uploads"], values)[0][0])

    def parts(self, upload: str) -> list[UploadPart]:
        with self._database.read() as session:
            rows = session.rows(self._statements["upload_parts"], {"upload": upload})
        return [UploadPart(number, sha256, size) for number, (sha256, size) in enumerate(rows)]

    def last_part(self, upload: str) -> UploadPart | None:
        with self._database.read() as session:
            rows = session.rows(self._statements["last_upload_part"], {"upload": upload})
        return UploadPart(*rows[0]) if rows else None

    def grow(self, row: UploadRow, parts: Sequence[UploadPart], received: int) -> bool:
        """Note parts that are in the store. False, and nothing noted, if somebody else has added some meanwhile."""
        values = {"upload": row.upload, "account": row.account, "before": row.received, "received": received}
        with self._database.transaction() as session:
            if session.run(self._statements["grow_upload"], values) != 1:
                return False
            session.run_many(
                self._statements["add_upload_part"], [{"upload": row.upload, **part._asdict()} for part in parts]
            )
        return True

    def end(self, account: str, upload: str) -> None:
        with self._database.transaction() as session:
            self._end(session, account, upload)

    def end_expired(self, now: datetime) -> int:
        """Forget those whose time is over. Their parts are rubbish that `fsck --repair` removes."""
        with self._database.transaction() as session:
            found = session.rows(self._statements["expired_uploads"], {"now": self._database.write_time(now)})
            for upload, account in found:
                self._end(session, account, upload)
        return len(found)

    def _end(self, session: DatabaseSession, account: str, upload: str) -> None:
        if session.run(self._statements["end_upload"], {"upload": upload, "account": account}):
            session.run(self._statements["end_upload_parts"], {"upload": upload})
