"""Retention as a process that is killed in the middle, again and again: the next one goes on, and nothing else goes."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cocli.documents import DocumentRepository, open_catalog
from cocli.store import Store, open_store
from tests.cli.test_retention import OLD, SECRET, bytes_in, fill, page
from tests.kit.effort import effort

DOCUMENTS = 40
KILLS = effort(1)
_LONGEST_SECONDS = 300.0


def _old_blobs(store: Store) -> int:
    """Counted by the store, which minds no folder that another process removes meanwhile."""
    return sum("old-" in info.key and info.key.endswith(".bin") for info in store.list())


def _killed(environ: dict[str, str], store: Store, left: int) -> bool:
    """Run it until no more than so many of the old blobs are there, and kill it; False if it has ended before."""
    words = [sys.executable, "-m", "cocli", "retention", "apply", "plumbers", "--yes", "--quiet"]
    process = subprocess.Popen(words, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + _LONGEST_SECONDS
    try:
        while process.poll() is None and _old_blobs(store) > left:
            assert time.monotonic() < deadline, "it removes nothing"
            time.sleep(0.005)
        was_running = process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    return was_running


def test_killed_again_and_again_it_ends_in_the_same_state(plumbers: Any, home: Path) -> None:
    data = home / "data"
    plumbers("campaign", "edit", "plumbers", "--set", 'retention.captures="12mo"')
    store = open_store(str(data))
    fill(store)
    catalog = open_catalog("sqlite://:memory:")
    then = DocumentRepository(store, catalog, clock=lambda: OLD)
    for number in range(DOCUMENTS):
        then.save(page(f"https://old-{number}.example/", b"%d %s" % (number, SECRET)))
    then.teller.tell()
    young = DocumentRepository(store, catalog, clock=lambda: datetime.now(UTC))
    young.save(page("https://new.example/", b"of today"))
    young.teller.tell()
    catalog.close()
    kept = {
        info.key: hashlib.sha256(store.get(info.key).data).digest()
        for info in store.list()
        if not any(part in info.key for part in ("old", "catalog/"))
    }
    assert _old_blobs(store) == DOCUMENTS
    steps = [DOCUMENTS - (number + 1) * DOCUMENTS // (KILLS + 2) for number in range(KILLS)]
    killed = sum(_killed(dict(os.environ), store, left) for left in steps)
    assert killed, "it was never in the middle"
    assert 0 < _old_blobs(store) < DOCUMENTS
    done = plumbers("retention", "apply", "plumbers", "--yes", "--json")
    assert done.code == 0, done.err
    assert _old_blobs(store) == 0
    assert SECRET + b"1" not in bytes_in(store)
    assert plumbers("documents", "fsck", "--all", "--json").json["findings"] == []
    after = {key: hashlib.sha256(store.get(key).data).digest() for key in kept}
    assert after == kept, "nothing else is removed or changed"
    again = plumbers("retention", "apply", "plumbers", "--yes", "--json").json
    assert [(kind["kind"], kind["count"]) for kind in again["kinds"]] == [("captures", 0)]
    proofs = plumbers("retention", "proofs", "plumbers", "--json").json["records"]
    names = {str(item) for record in proofs for item in record["items"]}
    assert len(names) >= DOCUMENTS, "each has its proof"
    store.close()
