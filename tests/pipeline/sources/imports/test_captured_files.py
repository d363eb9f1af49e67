"""Real files of others, read where they lie: as many rows, places and addresses as they are known to hold."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cocli.app.sources.imports import READERS, guess_format
from cocli.pipeline.sources.imports.mapping import map_columns
from cocli.pipeline.sources.imports.observation import ImportedPlace, Observer

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def truth(captures: Path) -> dict[str, Any]:
    return {one["file"]: one for one in json.loads((captures / "exports" / "truth.json").read_text("utf-8"))}


def test_every_file_is_read_as_it_is_known_to_be(captures: Path, truth: dict[str, Any]) -> None:
    for name, known in truth.items():
        data = (captures / "exports" / name).read_bytes()
        table = READERS[guess_format(data, name)](data, file=name)
        if "records" in known:
            assert (len(table.rows), table.refused) == (known["records"], []), name
            assert table.columns == [column for column in known["header"] if column], name
        else:
            assert len(table.rows) == known["points"], name
            assert len(table.rows) + len(table.refused) == known["placemarks"], name
        if not table.rows:
            continue
        observer = Observer(map_columns(table.columns), NOON)
        observed = [observer.observe(row) for row in table.rows]
        found = [one for one in observed if isinstance(one, ImportedPlace)]
        assert len(found) == len(table.rows), name
        assert len({email for one in found for email in one.emails}) == known.get("distinct_emails", 0), name
        if known.get("points"):
            assert all(one.place.lat is not None for one in found), name
        text = "".join(cell for row in table.rows for cell in row.cells.values())
        assert "\ufffd" not in text, name


def test_one_list_in_two_encodings_is_one_list(captures: Path) -> None:
    tables = [
        READERS["csv"]((captures / "exports" / f"groundswell_contacts_{kind}.csv").read_bytes(), file=kind)
        for kind in ("latin1", "utf8")
    ]
    assert tables[0].rows == tables[1].rows
    assert [table.encoding for table in tables] == ["cp1252", "utf-8"]
