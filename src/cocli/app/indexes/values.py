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
        return value if isfinite(value) else str(value)
    if isinstance(value, str):
        return json.loads(value) if kind == "JSON" else value
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (list, tuple)):
        return [plain_value(one) for one in value]
    if isinstance(value, dict):
        return {str(plain_value(key)): plain_value(one) for key, one in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def csv_cell(value: Any, *, raw: bool = False) -> Any:
    """A value as it stands in a CSV file. Unless it is to be `raw`, no spreadsheet takes it for a formula."""
    plain = plain_value(value)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, datetime):
        return render_utc(plain)
    if isinstance(plain, (list, dict)):
        plain = json.dumps(plain, ensure_ascii=False, default=_text)
    return harmless(plain) if isinstance(plain, str) and not raw else plain


def _text(value: object) -> str:
    return render_utc(value) if isinstance(value, datetime) else str(value)
