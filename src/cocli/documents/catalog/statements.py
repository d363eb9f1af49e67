"""The statements of `queries/*.sql` by name, and the columns that they speak of, for either database."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import resources
from typing import TYPE_CHECKING

from cocli.documents.catalog.base import Memo
from cocli.documents.catalog.job_rows import JOB, OUTCOME
from cocli.models.document import PipeDoc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROW = tuple(PipeDoc.model_fields)
EVENT = (
    *("event_id", "uuid", "cluster", "account", "connector", "datasource", "doc", "address", "digest", "version"),
    *("operation", "destination", "at"),
)
MEMO = tuple(column.name for column in fields(Memo))
_NAMED = re.compile(r"^-- name: (\w+)\n(.*?)(?=^-- |\Z)", re.MULTILINE | re.DOTALL)


def load(translate: Callable[[str], str], *, lock: str) -> Mapping[str, str]:
    """Every statement. `translate` turns `:name` into what the database's driver understands."""
    names = {"lock": lock}
    for name, columns in (("row", ROW), ("event", EVENT), ("memo", MEMO), ("job", JOB), ("outcome", OUTCOME)):
        names[name] = ", ".join(columns)
        names[f"{name}_values"] = ", ".join(f":{column}" for column in columns)
    folder = resources.files("cocli.documents.catalog") / "queries"
    found: dict[str, str] = {}
    for file in folder.iterdir():
        if file.name.endswith(".sql"):
            for name, text in _NAMED.findall(file.read_text("utf-8")):
                found[name] = translate(text.strip().rstrip(";").format_map(names))
    return found
