"""Loading a box of Overture's places, from a folder of the same layout; and without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cocli.demo.ports import free_ports
from cocli.errors import SourceRefused, SourceUnreachable, UsageError
from cocli.pipeline.sources.download import DownloadRequest
from cocli.pipeline.sources.open_places import Box, Claims, Library
from cocli.pipeline.sources.overture.download import fetch_overture

BOX = Box.parse("5.1,52.0,5.2,52.1")


@pytest.fixture
def bucket(tmp_path: Path, make: Any) -> Path:
    """Two releases, the newer one in two files."""
    base = tmp_path / "bucket"
    points = {"a": (52.05, 5.15), "b": (52.05, 5.25), "c": (10.0, 5.15), "d": (52.06, 5.16)}
    for release, files in {"2025-12-17.0": ["a"], "2026-01-21.0": ["ab", "cd"]}.items():
        folder = base / "release" / release / "theme=places" / "type=place"
        folder.mkdir(parents=True)
        for number, names in enumerate(files):
            rows = [make.overture_row(f"{release}-{name}", *points[name]) for name in names]
            make.parquet(folder / f"part-{number}.zstd.parquet", make.overture_columns["new"], rows, geo=True)
    return base


def test_the_places_of_the_box_are_loaded_and_can_be_added(
    bucket: Path, tmp_path: Path, library: Library, make: Any
) -> None:
    fetched = fetch_overture(DownloadRequest(BOX, base=str(bucket)), str(tmp_path / "out"))
    assert (fetched.release, fetched.rows) == ("2026-01-21.0", 2)
    file = library.add(fetched.path, Claims("overture", fetched.release, BOX, origin=fetched.origin), make.now).file
    assert (file.about.source, file.about.places, file.about.covers) == ("overture", 2, BOX)
    older = fetch_overture(DownloadRequest(BOX, "2025-12-17.0", str(bucket)), str(tmp_path / "older"))
    assert (older.release, older.rows) == ("2025-12-17.0", 1)


def test_a_box_across_the_antimeridian_is_two(tmp_path: Path, make: Any) -> None:
    folder = tmp_path / "bucket" / "release" / "2026-01-21.0" / "theme=places" / "type=place"
    folder.mkdir(parents=True)
    rows = [make.overture_row(str(lon), -16.5, lon) for lon in (179.95, -179.95, 0.0, 170.0)]
    make.parquet(folder / "part.parquet", make.overture_columns["new"], rows)
    box = Box.parse("179.9,-17,-179.9,-16")
    assert fetch_overture(DownloadRequest(box, base=str(tmp_path / "bucket")), str(tmp_path / "out")).rows == 2


def test_what_is_not_there_is_said(bucket: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    with pytest.raises(SourceRefused, match="has no place in the box 1,1,2,2"):
        fetch_overture(DownloadRequest(Box.parse("1,1,2,2"), base=str(bucket)), out)
    with pytest.raises(SourceRefused, match="no such folder"):
        fetch_overture(DownloadRequest(BOX, "2024-01-01.0", str(bucket)), out)
    with pytest.raises(SourceRefused, match="no folder release/"):
        fetch_overture(DownloadRequest(BOX, base=str(tmp_path)), out)
    with pytest.raises(UsageError, match="is not a release"):
        fetch_overture(DownloadRequest(BOX, "../../etc", str(bucket)), out)


def test_other_columns_are_refused(tmp_path: Path, make: Any) -> None:
    folder = tmp_path / "bucket" / "release" / "2026-01-21.0" / "theme=places" / "type=place"
    folder.mkdir(parents=True)
    make.parquet(folder / "part.parquet", {"id": "VARCHAR"}, [{"id": "a"}])
    with pytest.raises(SourceRefused, match="bbox"):
        fetch_overture(DownloadRequest(BOX, base=str(tmp_path / "bucket")), str(tmp_path / "out"))


def test_without_a_network_it_says_so(tmp_path: Path) -> None:
    nobody = f"http://127.0.0.1:{free_ports(1)[0]}"
    wanted = DownloadRequest(BOX, "2026-01-21.0", extensions=nobody, extension_folder=str(tmp_path / "extensions"))
    with pytest.raises(SourceUnreachable, match="cannot be loaded") as caught:
        fetch_overture(wanted, str(tmp_path / "out"))
    assert caught.value.retryable
    assert "cocli source add" in (caught.value.hint or "")
