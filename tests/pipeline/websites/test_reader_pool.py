"""Pages are read in processes of their own: one that takes too much costs its process, and nobody else notices."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

import psutil
import pytest

from cocli.errors import PageReaderLost
from cocli.pipeline.websites.site import reader_pool
from cocli.pipeline.websites.site.look import LookRequest, look_at
from cocli.pipeline.websites.site.reader_pool import ReaderPool, ReaderSettings
from cocli.pipeline.websites.triage.triage import Expected

T = TypeVar("T")
URL = "https://www.hainwerk.de/"
HTML = b"<title>Hainwerk</title><a href='mailto:info@hainwerk.de'>Mail</a> <a href='/kontakt'>Kontakt</a>"

_COSTLY = """
import sys
from cocli.pipeline.websites.site import look, reader_process

def look_at(request):
    if b"spin" in request.body:
        while True:
            pass
    if b"sleep" in request.body:
        import time
        time.sleep(600)
    if b"pause" in request.body:
        import time
        time.sleep(2)
    if b"swell" in request.body:
        kept = []
        while True:
            kept.append(bytes(50_000_000))
    if b"print" in request.body:
        print("this is no answer")
    return look.look_at(request)

reader_process.look_at = look_at
sys.exit(reader_process.main(sys.argv[1:]))
"""


def request(body: bytes = HTML) -> LookRequest:
    return LookRequest(body, "utf-8", URL, "DE", URL, 200, "hainwerk.de", Expected())


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """A reader to which some pages are as costly as pages can be: nobody waits for the kernel to find a real one."""
    (tmp_path / "costly_reader.py").write_text(_COSTLY, "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))))
    monkeypatch.setattr(reader_pool, "_MODULE", "costly_reader")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(coroutine, 200))


def test_another_process_says_the_same() -> None:
    async def both() -> None:
        async with ReaderPool(ReaderSettings(processes=2)) as pool:
            found = await asyncio.gather(*(pool(request()) for _ in range(6)))
        assert found == [look_at(request())] * 6

    run(both())


@pytest.mark.usefixtures("costly")
@pytest.mark.parametrize(
    ("body", "settings", "reason"),
    [
        (b"spin", ReaderSettings(cpu_seconds=1), "more than 1 s of processor time"),
        (b"sleep", ReaderSettings(seconds=5.0), "no end within 5 s"),
        (b"swell", ReaderSettings(memory=600 << 20), "more than 600 MiB of memory"),
    ],
)
def test_a_page_that_takes_too_much_is_noted_and_the_next_one_is_read(
    body: bytes, settings: ReaderSettings, reason: str
) -> None:
    async def one_after_the_other() -> None:
        async with ReaderPool(settings) as pool:
            look = await pool(request(body))
            assert [failure.reason for failure in look.facts.failures] == [f"too-costly: {reason}"]
            assert look.links == ()
            assert (await pool(request())).facts.emails

    run(one_after_the_other())


@pytest.mark.usefixtures("costly")
def test_the_loop_and_the_neighbours_go_on_meanwhile() -> None:
    async def beside() -> float:
        async with ReaderPool(ReaderSettings(processes=2, cpu_seconds=2)) as pool:
            slow = asyncio.create_task(pool(request(b"spin")))
            longest, before = 0.0, time.monotonic()
            quick = asyncio.create_task(pool(request()))
            while not slow.done():
                await asyncio.sleep(0.01)
                now = time.monotonic()
                longest, before = max(longest, now - before), now
                if quick.done() and not slow.done():
                    assert quick.result().facts.emails
                    quick = asyncio.create_task(pool(request()))
            await asyncio.gather(slow, quick)
            return longest

    assert run(beside()) < 2.0  # of the two seconds that the page took, whatever else the machine does


@pytest.mark.usefixtures("costly")
def test_a_slow_page_makes_room_for_the_others() -> None:
    """One process; what is slow goes on in it, and others are read beside it. No more of them than may be."""

    async def work() -> None:
        settings = ReaderSettings(processes=1, slow_seconds=0.2, slow_pages=1)
        async with ReaderPool(settings) as pool:
            first = asyncio.create_task(pool(request(b"sleep")))
            await asyncio.sleep(0)
            assert (await pool(request())).facts.emails
            assert not first.done()
            second = asyncio.create_task(pool(request(b"sleep")))
            third = asyncio.create_task(pool(request()))
            done, _ = await asyncio.wait({third}, timeout=1.0)
            assert not done, "one slow page stands aside, the next one holds its place"
            first.cancel()
            second.cancel()
            await asyncio.gather(first, second, return_exceptions=True)
            assert (await third).facts.emails
            assert (await pool(request())).facts.emails

    run(work())


@pytest.mark.usefixtures("costly")
def test_a_page_whose_reader_is_killed_from_outside_is_read_once_more() -> None:
    """A storm of kills met a reader: the facts of an innocent page were lost."""
    innocent = request(b"pause" + HTML)

    async def killed() -> Any:
        async with ReaderPool(ReaderSettings(slow_pages=0)) as pool:
            await pool(request())
            (reader,) = (child for child in psutil.Process().children() if "costly_reader" in child.cmdline())
            asked = asyncio.create_task(pool(innocent))
            await asyncio.sleep(0.5)
            reader.kill()
            return await asked

    assert run(killed()) == look_at(innocent)


@pytest.mark.usefixtures("costly")
def test_what_a_reader_prints_is_no_answer() -> None:
    async def ask() -> None:
        async with ReaderPool(ReaderSettings()) as pool:
            assert (await pool(request(HTML + b"<!-- print -->"))).facts.emails

    run(ask())


@pytest.mark.usefixtures("costly")
def test_a_reading_that_is_cancelled_leaves_no_answer_behind() -> None:
    async def cancel() -> None:
        async with ReaderPool(ReaderSettings()) as pool:
            await pool(request())
            waiting = asyncio.create_task(pool(request(b"sleep")))
            await asyncio.sleep(0.2)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert (await pool(request())).facts.emails

    run(cancel())


def test_a_reader_that_cannot_start_is_no_page_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_pool, "_MODULE", "cocli.no_such_module")

    async def ask() -> None:
        async with ReaderPool(ReaderSettings()) as pool:
            with pytest.raises(PageReaderLost):
                await pool(request())

    run(ask())


def test_readers_end_with_whoever_started_them() -> None:
    program = (
        "import asyncio, sys\n"
        "from tests.pipeline.websites.test_reader_pool import request\n"
        "from cocli.pipeline.websites.site.reader_pool import ReaderPool\n"
        "async def main():\n"
        "    pool = ReaderPool()\n"
        "    await pool(request())\n"
        "    print('ready', flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        readers = psutil.Process(process.pid).children(recursive=True)
        assert readers
        os.kill(process.pid, signal.SIGKILL)
    gone, alive = psutil.wait_procs(readers, timeout=60)
    assert (len(gone), alive) == (len(readers), [])
