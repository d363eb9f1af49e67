"""Tables, sizes and progress, on a terminal and off it."""

from __future__ import annotations

import io
import time
from datetime import UTC, datetime

import pytest

from cocli.cli.kit.output import Output, count_shown, shown, size_shown
from cocli.cli.kit.progress import ProgressLine


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def walk(output: Output, seconds: float) -> None:
    with ProgressLine(output, "counting") as progress:
        started = time.monotonic()
        done = 0
        while time.monotonic() - started < seconds:
            done += 1000
            progress(done)
            time.sleep(0.01)


def test_a_long_walk_shows_how_far_it_is_and_cleans_up() -> None:
    screen = Screen()
    walk(Output(Screen(), screen), 0.8)
    assert "\rcounting: " in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K")
    assert screen.getvalue().count("counting") < 6


@pytest.mark.parametrize(
    "output",
    [
        Output(Screen(), io.StringIO()),
        Output(Screen(), Screen(), quiet=True),
        Output(Screen(), Screen(), as_json=True),
    ],
)
def test_nobody_who_did_not_ask_sees_progress(output: Output) -> None:
    walk(output, 0.7)
    assert isinstance(output.stderr, io.StringIO)
    assert output.stderr.getvalue() == ""


def test_a_short_walk_says_nothing() -> None:
    screen = Screen()
    walk(Output(Screen(), screen), 0.1)
    assert screen.getvalue() == ""


def test_values_for_people() -> None:
    assert [size_shown(size) for size in (0, 1023, 1024, 1536, 5 << 30, 1 << 50)] == [
        "0 B", "1023 B", "1.0 KiB", "1.5 KiB", "5.0 GiB", "1024.0 TiB",
    ]  # fmt: skip
    assert (count_shown(1, "object"), count_shown(1234, "object")) == ("1 object", "1,234 objects")
    assert shown(datetime(2026, 11, 15, 18, tzinfo=UTC)) == "2026-11-15 18:00:00Z"
    assert (shown(None), shown(True), shown(("ä", 1))) == ("", "true", '["ä", 1]')


def test_a_table_off_a_terminal_is_aligned_and_one_line_per_row() -> None:
    out = io.StringIO()
    Output(out, io.StringIO()).table(("name", "size"), [("a\nb", "1"), ("ccc", "22")], right=("size",))
    assert out.getvalue() == "name    size\na\\x0ab     1\nccc       22\n"


def test_a_document_is_ascii_and_has_times_in_utc() -> None:
    out = io.StringIO()
    Output(out, io.StringIO()).document({"when": datetime(2026, 11, 15, 18, tzinfo=UTC), "text": "\x9b ü"})
    assert out.getvalue().isascii()
    assert '"2026-11-15T18:00:00Z"' in out.getvalue()


def test_a_narrow_terminal_shows_rows_one_below_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    columns, row = ("company", "name", "website", "phone"), ("acme-plumbing", "Acme Plumbing", "acme.example", None)

    def drawn(width: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        Output(screen := Screen(), io.StringIO()).table(columns, [row, row])
        return screen.getvalue().splitlines()

    block = ["company  acme-plumbing", "name     Acme Plumbing", "website  acme.example"]
    assert drawn(30) == [*block, "", *block]
    assert drawn(70)[0].split() == list(columns)
    assert drawn(70)[2].split() == ["acme-plumbing", "Acme", "Plumbing", "acme.example"]
