"""The suite's own order, and what its workers share: nothing is left out, and nothing is made twice."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.kit.made_once import copied_once, made_once
from tests.kit.order import spread


@dataclass(frozen=True)
class Item:
    """As much of a test as its order depends on."""

    number: int
    path: Path
    waits: bool = False

    def get_closest_marker(self, name: str) -> object:
        return self.waits if name == "waits" else None


def items(waiting_files: int, each: int = 3, others: int = 60) -> list[Any]:
    waiting = [Item(at, Path(f"w{at // each}"), True) for at in range(waiting_files * each)]
    return [*(Item(1000 + at, Path(f"o{at // 5}")) for at in range(others)), *waiting]


@pytest.mark.parametrize("shares", [1, 2, 4, 7])
@pytest.mark.parametrize("waiting_files", [0, 1, 3, 9])
def test_all_run_once_and_those_of_a_file_together(shares: int, waiting_files: int) -> None:
    given = items(waiting_files)
    ordered: list[Any] = list(spread(given, shares))
    assert sorted(ordered, key=given.index) == given
    for file in {item.path for item in given if item.waits}:
        places = [at for at, item in enumerate(ordered) if item.path == file]
        assert places == list(range(places[0], places[0] + 3))
    assert [item for item in ordered if not item.waits] == given[:60], "the others keep their order"


def test_those_that_wait_are_in_different_places_and_none_is_late() -> None:
    ordered: list[Any] = list(spread(items(4, each=3, others=400), 4))
    began = [at for at, item in enumerate(ordered) if item.waits and item.number % 3 == 0]
    within = [place - share * 103 for share, place in enumerate(began)]
    assert within == sorted(set(within))
    assert max(within) < 0.6 * 103


def make(folder: Path) -> None:
    with (folder.parent / "made").open("a") as log:
        log.write("x")
    (folder / "content").write_text("dear")


@dataclass(frozen=True)
class Factory:
    """A worker's own folder below that of the run."""

    own: Path

    def getbasetemp(self) -> Path:
        return self.own

    def mktemp(self, name: str) -> Path:
        made = self.own / name
        made.mkdir(parents=True)
        return made


def ask(worker: str, run: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_XDIST_WORKER", worker)
        factory: Any = Factory(Path(run) / worker)
        copy = copied_once(factory, "dear", make)
        (copy / "content").write_text(worker)


def test_workers_share_what_is_dear_and_change_their_own_copies(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=ask, args=(f"gw{number}", str(tmp_path))) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert (tmp_path / "made").read_text() == "x"
    assert (tmp_path / "once-dear" / "content").read_text() == "dear"


def test_what_could_not_be_made_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    factory: Any = Factory(tmp_path)

    def fail(folder: Path) -> None:
        (folder / "half").write_text("")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        made_once(factory, "dear", fail)
    made = made_once(factory, "dear", make)
    assert [file.name for file in made.iterdir()] == ["content"]
