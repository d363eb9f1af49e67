"""Writes to a folder while being killed at random moments, and checks what is there after every kill.

Run as a program (by test_local.py), because it forks: `python kill_loop.py FOLDER KILLS FSYNC`. Prints the number of
kills and of objects that were seen whole.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
import time
from collections.abc import Iterator

from cocli.errors import AlreadyExists, Conflict, NotFound
from cocli.store.base import Put
from cocli.store.local import Fsync, LocalStore

KEYS = [f"kill/{name}" for name in ("a", "b/c", "b/d", "deep/er/e")]


def content(rng: random.Random) -> bytes:
    """Bytes that prove themselves whole: their digest comes first."""
    body = rng.randbytes(rng.choice((0, 10, 5_000, 300_000)))
    return hashlib.sha256(body).hexdigest().encode() + body


def is_whole(data: bytes) -> bool:
    return hashlib.sha256(data[64:]).hexdigest().encode() == data[:64]


def write_for_ever(folder: str, seed: int, fsync: Fsync) -> None:
    store, rng = LocalStore(folder, fsync=fsync), random.Random(seed)
    while True:
        key, action = rng.choice(KEYS), rng.randrange(6)
        try:
            if action == 0:
                store.put(key, content(rng))
            elif action == 1:
                store.put(key, content(rng), if_absent=True)
            elif action == 2:
                store.put(key, content(rng), if_match=store.get(key).etag)
            elif action == 3:
                store.put_many([Put(key, content(rng)) for key in KEYS])
            elif action == 4:
                store.delete(key, if_match=store.get(key).etag)
            else:
                store.delete(key)
        except (AlreadyExists, Conflict, NotFound):
            continue


def killed_writers(folder: str, kills: int, fsync: Fsync, rng: random.Random) -> Iterator[None]:
    for _ in range(kills):
        seed = rng.getrandbits(32)
        child = os.fork()
        if child == 0:
            try:
                write_for_ever(folder, seed, fsync)
            finally:
                os._exit(3)  # reached only by an unexpected error
        time.sleep(rng.uniform(0.001, 0.02))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the writer ended by itself"
        yield


def main(folder: str, kills: int, fsync: Fsync) -> None:
    rng = random.Random(20261115)
    store, whole = LocalStore(folder, fsync="never"), 0
    for _ in killed_writers(folder, kills, fsync, rng):
        for info in store.list():
            assert info.key in KEYS, f"{info.key} is not an object that anybody wrote"
            assert is_whole(store.get(info.key).data), f"{info.key} is a mixture"
            whole += 1
        # Nothing that a dead writer left keeps a living one from going on.
        key = rng.choice(KEYS)
        etag = store.put(key, content(rng))
        store.put(key, content(rng), if_match=etag)
        store.delete(key)
        store.put(key, content(rng), if_absent=True)
    left = sum(name.startswith(".tmp#") for _, _, names in os.walk(folder) for name in names)
    swept = store.sweep(older_than=-1)
    assert swept == left, f"{left} temporary files were left, {swept} were swept"
    assert store.sweep(older_than=-1) == 0
    print(kills, whole)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), "always" if sys.argv[3] == "always" else "never")
