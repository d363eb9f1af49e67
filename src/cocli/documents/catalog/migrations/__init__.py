"""Makes the tables: the numbered files of a dialect, each once, in order, in one transaction each.

A file that was applied is never changed: its digest is kept, and another one is refused.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.documents.catalog.database import Database, DatabaseSession

_LOG = logs.get_logger(__name__)

_FILE = re.compile(r"([0-9]{4})_[a-z_]+\.sql\Z")
_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL
)
"""
_UPGRADE = "Install the version of cocli that it was made with, or build it anew with: cocli documents fsck --rebuild"


@dataclass(frozen=True, slots=True)
class CatalogMigration:
    number: int
    name: str
    script: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.script.encode()).hexdigest()


def of_dialect(dialect: str) -> list[CatalogMigration]:
    folder = resources.files("cocli.documents.catalog.migrations") / dialect
    files = sorted((file for file in folder.iterdir() if _FILE.match(file.name)), key=lambda file: file.name)
    return [CatalogMigration(int(file.name[:4]), file.name, file.read_text("utf-8")) for file in files]


def migrate(database: Database, migrations: list[CatalogMigration] | None = None) -> list[str]:
    """Bring the tables up to date; the names of what was applied."""
    wanted = of_dialect(database.dialect) if migrations is None else migrations
    with database.migrating() as session:
        session.run(_TABLE, {})
        applied = _applied(session)
        _check(database, wanted, applied)
        new = [migration for migration in wanted if migration.number not in applied]
        for migration in new:
            database.run_script(session, migration.script)
            _note(database, session, migration)
            _LOG.info("migration applied: %s", migration.name)
    return [migration.name for migration in new]


def _applied(session: DatabaseSession) -> dict[int, str]:
    return dict(session.rows("SELECT number, sha256 FROM schema_migrations", {}))  # type: ignore[arg-type]


def _note(database: Database, session: DatabaseSession, migration: CatalogMigration) -> None:
    values: Mapping[str, object] = {
        "number": migration.number,
        "name": migration.name,
        "sha256": migration.sha256,
    }
    session.run(database.statements["note_migration"], values)


def _check(database: Database, wanted: list[CatalogMigration], applied: Mapping[int, str]) -> None:
    known = {migration.number: migration for migration in wanted}
    if newer := sorted(set(applied) - set(known)):
        reason = f"it has migration {newer[-1]:04d}, which this version of cocli does not know"
        raise CatalogError(address=database.address, reason=reason, hint=_UPGRADE)
    for number, sha256 in applied.items():
        if known[number].sha256 != sha256:
            reason = f"{known[number].name} is not what was applied to it"
            raise CatalogError(address=database.address, reason=reason, hint=_UPGRADE)
