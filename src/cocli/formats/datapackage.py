r"""`datapackage.json`: the Frictionless description of a table of records, generated from the model.

One per dataset, so that a stranger with the files alone can read them. It cannot say everything: the escapes of USV
(`\n` for a line feed) are beyond its dialect, so a generic tool sees them undecoded in the rare field that has one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from cocli.formats.columns import Column, ColumnKind, columns_of
from cocli.formats.usv_dialect import NULL, SEPARATOR
from cocli.models.record import TEXT_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.models.record import Record

_TYPES = {
    ColumnKind.TEXT: "string",
    ColumnKind.INTEGER: "integer",
    ColumnKind.NUMBER: "number",
    ColumnKind.BOOLEAN: "boolean",
    ColumnKind.TIME: "datetime",
    ColumnKind.NAME: "string",
}
_CONSTRAINTS = {
    "pattern": "pattern",
    "minLength": "minLength",
    "maxLength": "maxLength",
    "minimum": "minimum",
    "maximum": "maximum",
    "enum": "enum",
}
# USV knows no quotes, but readers want a character for them: U+001E never stands bare in a file.
_DIALECTS: dict[str, dict[str, Any]] = {
    "usv": {"delimiter": SEPARATOR, "lineTerminator": "\n", "quoteChar": "\x1e", "doubleQuote": False, "header": True},
    "csv": {"delimiter": ",", "lineTerminator": "\r\n", "quoteChar": '"', "doubleQuote": True, "header": True},
}


def datapackage(
    model: type[Record],
    *,
    name: str,
    paths: Sequence[str],
    table_format: Literal["usv", "csv"] = "usv",
    extra_columns: Sequence[str] = (),
) -> dict[str, Any]:
    """The description of a dataset: `name` in lower case, `paths` relative to the folder of the description."""
    resource = {
        "name": name,
        "profile": "tabular-data-resource",
        "path": paths[0] if len(paths) == 1 else list(paths),
        "scheme": "file",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "dialect": _DIALECTS[table_format],
        "schema": table_schema(model, extra_columns=extra_columns),
    }
    return {"name": name, "profile": "tabular-data-package", "cocli:schema": model.schema_id, "resources": [resource]}


def table_schema(model: type[Record], *, extra_columns: Sequence[str] = ()) -> dict[str, Any]:
    """The Table Schema of a model: fields in the order of the columns, and the key."""
    fields = [_field(column) for column in columns_of(model)]
    fields.extend({"name": column, "type": "string"} for column in extra_columns)
    schema: dict[str, Any] = {"fields": fields, "missingValues": [NULL]}
    if model.key:
        schema["primaryKey"] = list(model.key)
    return schema


def render(package: dict[str, Any]) -> bytes:
    return json.dumps(package, ensure_ascii=False, indent=2).encode() + b"\n"


def _field(column: Column) -> dict[str, Any]:
    described: dict[str, Any] = {"name": column.name, "type": _type(column)}
    if column.kind is ColumnKind.BOOLEAN:
        described |= {"trueValues": ["true"], "falseValues": ["false"]}
    if column.kind is ColumnKind.TIME:
        described["format"] = "any"  # with and without fractions of a second
    constraints: dict[str, Any] = {} if column.nullable else {"required": True}
    if column.kind in (ColumnKind.TEXT, ColumnKind.INTEGER, ColumnKind.NUMBER):
        constraints |= _constraints(column)
    if constraints:
        described["constraints"] = constraints
    return described


def _type(column: Column) -> str:
    if column.kind is ColumnKind.JSON:
        return {"[]": "array", "{}": "object"}.get(column.brackets, "any")
    return _TYPES[column.kind]


def _constraints(column: Column) -> dict[str, Any]:
    schema = column.adapter.json_schema()
    alternatives = [part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
    if len(alternatives) != 1:
        return {}
    found = {ours: alternatives[0][theirs] for theirs, ours in _CONSTRAINTS.items() if theirs in alternatives[0]}
    if found.get("maxLength") == TEXT_LIMIT:
        del found["maxLength"]
    return found
