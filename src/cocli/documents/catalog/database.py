"""What `sql.SqlCatalog` needs of a database: statements with named parameters, transactions, how it writes a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime


class DatabaseSession(Protocol):
    """Statements within one transaction."""

    def rows(self, statement: str, parameters: Mapping[str, object]) -> Sequence[Sequence[Any]]: ...

    def rows_many(
        self, statement: str, parameters: Sequence[Mapping[str, object]]
    ) -> Sequence[Sequence[Sequence[Any]]]:
        """As `rows` for each, asked for together: a server is waited for once."""
        ...

    def run(self, statement: str, parameters: Mapping[str, object]) -> int:
        """Execute, and tell how many rows it changed."""
        ...

    def run_many(self, statement: str, parameters: Sequence[Mapping[str, object]]) -> None: ...


class Database(Protocol):
    """Errors of the driver come out as `CatalogError` or `CatalogUnavailable`."""

    @property
    def address(self) -> str: ...

    @property
    def dialect(self) -> str:
        """The folder of its migrations."""
        ...

    @property
    def statements(self) -> Mapping[str, str]: ...

    def read(self) -> AbstractContextManager[DatabaseSession]:
        """For looking only."""
        ...

    def transaction(self) -> AbstractContextManager[DatabaseSession]:
        """All or nothing: rolled back where the block raises."""
        ...

    def migrating(self) -> AbstractContextManager[DatabaseSession]:
        """A transaction that no other process runs at the same time."""
        ...

    def run_script(self, session: DatabaseSession, script: str) -> None:
        """Several statements, within the transaction."""
        ...

    def lock(self, session: DatabaseSession, name: str, *, shared: bool = False) -> None:
        """Until the transaction ends, nobody else has the lock of this name, or only others who share it."""
        ...

    def write_time(self, moment: datetime) -> object: ...

    def read_time(self, value: Any) -> datetime: ...

    def tended(self) -> AbstractContextManager[None]:
        """For who commits all the time: what the database does now and then in the midst of a commit is done beside
        them while the block runs."""
        ...

    def check(self) -> None:
        """Look whether the database itself is whole, where it can tell. `CatalogError` where it is not."""
        ...

    def close(self) -> None: ...
