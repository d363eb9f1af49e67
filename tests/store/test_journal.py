"""The journal of results on a folder: what it keeps, who settles it, and that it never leads out of the folder.

What a power cut leaves is tried by `tests/queue/test_power_cut.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from cocli.errors import AlreadyExists, NotFound
from cocli.store.base import Put
from cocli.store.disk import journal, results
from cocli.store.local import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "campaigns/c/queues/q/completed/a/"
KILLED = """
import os, sys
from cocli.store.disk import results
from cocli.store.local import LocalStore
results._FIRST_WITHOUT_JOURNAL = 0
store = LocalStore(sys.argv[1], fsync="always")
for number in range(5):
    store.put(f"campaigns/c/queues/q/completed/a/killed-{number}.json", b"{}\\n", if_absent=True)
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def from_the_first_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "_FIRST_WITHOUT_JOURNAL", 0)


def key(name: object) -> str:
    return f"{FOLDER}{name}.json"


def journals(folder: Path) -> list[str]:
    names = os.listdir(folder / journal.JOURNAL_FOLDER) if (folder / journal.JOURNAL_FOLDER).exists() else []
    return [name for name in names if name != "locks"]


def create(store: LocalStore, *names: object) -> None:
    answers = store.put_many([Put(key(name), f"{name}\n".encode(), if_absent=True) for name in names])
    assert all(isinstance(etag, str) for etag in answers), answers


def test_results_are_kept_and_other_objects_are_not(tmp_path: Path) -> None:
    store = LocalStore(tmp_path, fsync="always")
    store.put("campaigns/c/queues/q/pending/a/1/task.json", b"{}\n", if_absent=True)
    assert not journals(tmp_path)
    store.put(key(1), b"1\n", if_absent=True)
    create(store, 2, 3)
    (name,) = journals(tmp_path)
    records = list(journal.read_journal((tmp_path / journal.JOURNAL_FOLDER / name).read_bytes()))
    assert records == [(key(1), b"1\n"), (key(2), b"2\n"), (key(3), b"3\n")]
    with pytest.raises(AlreadyExists):
        store.put(key(1), b"other\n", if_absent=True)
    assert store.get(key(1)).data == b"1\n"
    store.close()
    assert not journals(tmp_path)


def test_what_is_removed_or_replaced_is_in_no_journal(tmp_path: Path) -> None:
    mine, other = LocalStore(tmp_path, fsync="always"), LocalStore(tmp_path, fsync="always")
    create(mine, 1, 2)
    other.delete(key(1))
    assert not journals(tmp_path)
    create(mine, 1)  # in a new journal
    assert len(journals(tmp_path)) == 1
    other.put(key(2), b"other\n")
    assert not journals(tmp_path)
    create(mine, 3)
    other.delete_many([key(3)])
    assert not journals(tmp_path)
    with pytest.raises(NotFound):
        mine.get(key(3))


def test_a_full_journal_is_settled_and_another_one_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "SIZE", 1024)
    store = LocalStore(tmp_path, fsync="always")
    for number in range(40):
        create(store, number)
    assert len(journals(tmp_path)) == 1
    assert len(list(store.list(FOLDER))) == 40
    create(store, *range(40, 80))  # too many for one of this size: as ever, without a journal
    assert len(list(store.list(FOLDER))) == 80


def test_threads_share_a_journal_while_another_settles_it(tmp_path: Path) -> None:
    mine, other = LocalStore(tmp_path, fsync="always"), LocalStore(tmp_path, fsync="always")
    with ThreadPoolExecutor(8) as threads:
        created = [threads.submit(create, mine, f"t-{number}", f"u-{number}") for number in range(40)]
        for _ in range(5):
            other.delete(key("nobody"))
        for future in created:
            future.result()
    assert len(list(mine.list(FOLDER))) == 80


def test_one_of_many_who_create_the_same_wins(tmp_path: Path) -> None:
    stores = [LocalStore(tmp_path, fsync="always") for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        for number in range(10):
            puts = [Put(key(number), f"{writer}\n".encode(), if_absent=True) for writer in range(4)]
            answers = list(threads.map(lambda store, put: store.put_many([put])[0], stores, puts))
            (won,) = [writer for writer, answer in enumerate(answers) if isinstance(answer, str)]
            assert stores[0].get(key(number)).data == f"{won}\n".encode()
            kept = [
                record
                for name in journals(tmp_path)
                for record in journal.read_journal((tmp_path / journal.JOURNAL_FOLDER / name).read_bytes())
                if record.key == key(number)
            ]
            assert kept == [(key(number), f"{won}\n".encode())], "who lost has no record"


def test_the_journal_of_a_killed_process_goes_with_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False)
    (left,) = journals(tmp_path)
    store = LocalStore(tmp_path, fsync="always")
    assert journals(tmp_path) == [left], "who only looks waits for no disk"
    create(store, 1)
    assert left not in journals(tmp_path)
    assert len(list(store.list(FOLDER))) == 6


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    outside, data = tmp_path / "outside", tmp_path / "data"
    outside.mkdir()
    (outside / "1-0123abcd").write_text("a stranger's")
    store = LocalStore(data, fsync="always")
    (data / journal.JOURNAL_FOLDER).symlink_to(outside)
    create(store, 1)
    assert os.listdir(outside) == ["1-0123abcd"]
    LocalStore(data, fsync="always").close()
    assert (outside / "1-0123abcd").read_text() == "a stranger's"
    assert store.get(key(1)).data == b"1\n"
