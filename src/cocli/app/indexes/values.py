"""Values of a query's answer, as JSON and as CSV know them. What was scraped is made harmless for spreadsheets."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from cocli.models.record import render_utc
from cocli.results.exports.cells import harmless


def plain_value(value: Any, kind: str = "") -> Any:
    """A value of a row as JSON knows it: times in UTC, JSON columns as what they hold, the rest as text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if isfinite(value):
            return value
        return str(value)
    if isinstance(value, str):
        if kind == "JSON":
            return json.loads(value)
        return value
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return value.astimezone(UTC)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {str(plain_value(key)): plain_value(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (date, time)):
        return value.isoformat()
    return str(value)


def csv_cell(value: Any, *, raw: bool = False) -> Any:
    """A value as it stands in a CSV file. Unless it is to be `raw`, no spreadsheet takes it for a formula."""
    plain = plain_value(value)
    if isinstance(plain, bool):
        if plain:
            return "true"
        return "false"
    if isinstance(plain, datetime):
        return render_utc(plain)
    if isinstance(plain, (list, dict)):
        plain = json.dumps(plain, ensure_ascii=False, default=_text)
    if isinstance(plain, str) and not raw:
        return harmless(plain)
    return plain


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return render_utc(value)
    return str(value)
