"""Pages are read in processes of their own: one that takes too much costs its process, and nobody else notices."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from typing import Any, TypeVar

import psutil
import pytest

from cocli.documents.reading.limits import OverrunError, ReadingLimits, ReadingPatience
from cocli.errors import PageReaderLost
from cocli.pipeline.websites.fetch.pace.visit_clock import VisitClock
from cocli.pipeline.websites.site import reader_pool
from cocli.pipeline.websites.site.look import LookRequest, look_at
from cocli.pipeline.websites.site.reader_pool import ReaderPool, ReaderSettings
from cocli.pipeline.websites.triage.triage import Expected

T = TypeVar("T")
URL = "https://www.hainwerk.de/"
HTML = b"<title>Hainwerk</title><a href='mailto:info@hainwerk.de'>Mail</a> <a href='/kontakt'>Kontakt</a>"

_COSTLY = """
from cocli.pipeline.websites.site import look

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
    if b"labour" in request.body:
        import time
        while time.process_time() < 2.4:
            pass
    if b"swell" in request.body:
        kept = []
        while True:
            kept.append(bytes(50_000_000))
    if b"print" in request.body:
        print("this is no answer")
    return look.look_at(request)
"""


def request(body: bytes = HTML) -> LookRequest:
    return LookRequest(body, "utf-8", URL, "DE", URL, 200, "hainwerk.de", Expected())


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[None]:
    """A reader to which some pages are as costly as pages can be: nobody waits for the kernel to find a real one."""
    (tmp_path / "costly_reader.py").write_text(_COSTLY, "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(reader_pool, "look_at", importlib.import_module("costly_reader").look_at)
    yield
    sys.modules.pop("costly_reader", None)


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
    ("body", "limits", "reason"),
    [
        (b"spin", ReadingLimits(cpu_seconds=1), "more than 1 s of processor time"),
        (b"sleep", ReadingLimits(seconds=5.0), "no end within 5 s"),
        (b"swell", ReadingLimits(memory=600 << 20), "more than 600 MiB of memory"),
    ],
)
def test_a_page_that_takes_too_much_is_noted_and_the_next_one_is_read(
    body: bytes, limits: ReadingLimits, reason: str
) -> None:
    async def one_after_the_other() -> None:
        async with ReaderPool(ReaderSettings(limits=limits)) as pool:
            look = await pool(request(body))
            assert [failure.reason for failure in look.facts.failures] == [f"too-costly: {reason}"]
            assert look.links == ()
            assert (await pool(request())).facts.emails

    run(one_after_the_other())


@pytest.mark.usefixtures("costly")
def test_the_loop_and_the_neighbours_go_on_meanwhile() -> None:
    async def beside() -> float:
        async with ReaderPool(ReaderSettings(processes=2, limits=ReadingLimits(cpu_seconds=2))) as pool:
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
def test_whoever_stands_behind_a_page_that_takes_too_much_is_read_by_another_process() -> None:
    """A process is handed several pages at a time: what the first one does must not hit those behind it."""

    async def work() -> None:
        settings = ReaderSettings(processes=1, slow_seconds=0.1, limits=ReadingLimits(cpu_seconds=1))
        async with ReaderPool(settings) as pool:
            await pool(request())
            pages = [b"spin", HTML, HTML, b"spin", HTML, HTML]
            looks = await asyncio.gather(*(pool(request(page)) for page in pages))
        costly = [bool(look.facts.failures) for look in looks]
        assert costly == [page == b"spin" for page in pages]
        assert [bool(look.facts.emails) for look in looks] == [page != b"spin" for page in pages]

    run(work())


@pytest.mark.usefixtures("costly")
def test_a_process_reads_on_while_nobody_looks_at_its_answers() -> None:
    """Pages once went to and fro one by one: a process stood still whenever the event loop had something else to do."""

    async def work() -> None:
        async with ReaderPool(ReaderSettings(processes=1, slow_pages=0)) as pool:
            await pool(request())
            (reader,) = pool._readers
            before = reader.processor_seconds()
            pages = asyncio.gather(*(pool(request(HTML * 200)) for _ in range(6)))
            while len(reader.pages) < 6:  # noqa: ASYNC110  they are handed over together
                await asyncio.sleep(0)
            until = time.monotonic() + 60
            while reader.processor_seconds() < before + 0.1 and time.monotonic() < until:
                time.sleep(0.01)  # noqa: ASYNC251  the loop is busy with something else
            assert len(reader.pages) == 6, "nobody has looked"
            assert len(await pages) == 6

    run(work())


def _readers() -> dict[int, int]:
    """Process → its priority."""
    children = psutil.Process().children()
    return {child.pid: child.nice() for child in children if reader_pool._WARM_UP in child.cmdline()}


@pytest.mark.usefixtures("costly")
def test_a_large_page_leaves_its_reader_to_the_others() -> None:
    """A hostile page of a megabyte was read in the place of the ordinary ones, and all of them waited."""

    async def work() -> None:
        settings = ReaderSettings(processes=1, slow_seconds=600.0, large=1_000, slow_pages=1)
        async with ReaderPool(settings) as pool:
            await pool(request())
            quick = set(_readers())
            large = asyncio.create_task(pool(request(b"sleep" + b" " * 1_000)))
            while len(_readers()) < 2:  # noqa: ASYNC110  a process starts
                await asyncio.sleep(0.01)
            assert (await pool(request())).facts.emails
            while pool._slow.line:  # noqa: ASYNC110  it is ready, and handed the page
                await asyncio.sleep(0.01)
            assert not large.done()
            assert set(_readers()) > quick
            large.cancel()
            await asyncio.gather(large, return_exceptions=True)
            assert set(_readers()) == quick

    run(work())


@pytest.mark.usefixtures("costly")
def test_a_visit_does_not_pay_for_the_start_of_a_reader_and_the_pages_of_others() -> None:
    """On a busy machine a site's time ended while it waited for a process: its last page was not read."""

    async def work() -> None:
        async with ReaderPool(ReaderSettings(processes=1, slow_pages=0)) as pool:
            visit = VisitClock()
            with visit.running():
                await pool(request())
            assert visit.waited > 0.05, "a process was started"
            before = visit.waited
            other = asyncio.create_task(pool(request(b"pause" + HTML)))
            await asyncio.sleep(0)
            with visit.running():
                await pool(request())
            assert visit.waited - before > 1.0, "the page of somebody else was read"
            assert other.done()

    run(work())


@pytest.mark.usefixtures("costly")
def test_a_busy_machine_is_no_slow_site() -> None:
    """Under load the time of a site ended while its page waited for the processor, and an address was missing."""

    async def work() -> None:
        async with ReaderPool(ReaderSettings(processes=1, slow_pages=0)) as pool:
            visit = VisitClock()
            with visit.running():
                began = time.monotonic()
                assert (await pool(request(b"pause" + HTML))).facts.emails
                counted = time.monotonic() - began - visit.waited
            assert counted < 1.5, "it took two seconds, and no processor"
        for seconds in (0.5, 3.0, 18.0):
            # Half a second by the clock is over again and again, as on a machine that has little time for the process.
            # Where it is such a machine, ten looks are too few, or the process has not moved at all within one: the
            # next limit is meant for it.
            with suppress(PageReaderLost):
                if labour_time := await labour(seconds):
                    assert labour_time > 1.0, "processor time is the site's own"
                    return
        pytest.fail("a page that takes two seconds was not read within 180")

    async def labour(seconds: float) -> float | None:
        limits = ReadingLimits(seconds=seconds)
        async with ReaderPool(ReaderSettings(processes=1, slow_pages=0, limits=limits)) as pool:
            visit = VisitClock()
            with visit.running():
                began = time.monotonic()
                facts = (await pool(request(b"labour" + HTML))).facts
                if any("no end within" in failure.reason for failure in facts.failures):
                    return None
                assert facts.emails
                return time.monotonic() - began - visit.waited

    run(work())


def test_who_waits_for_a_process_that_moves_does_not_blame_the_page() -> None:
    patience = ReadingPatience(ReadingLimits(seconds=60.0), used=1.0)
    looks = [patience.goes_on(1.0 + 0.1 * number) for number in range(1, 11)]
    assert looks == [True] * 9 + [False]
    assert isinstance(patience.why(), PageReaderLost)
    assert "within 600 s" in str(patience.why())
    asleep = ReadingPatience(ReadingLimits(seconds=60.0), used=1.0)
    assert not asleep.goes_on(1.01)
    assert isinstance(asleep.why(), OverrunError)


@pytest.mark.usefixtures("costly")
def test_a_page_that_stays_slow_loses_its_priority_and_not_its_answer() -> None:
    async def work() -> None:
        settings = ReaderSettings(processes=1, slow_seconds=0.05, patient_seconds=0.1, slow_pages=1)
        async with ReaderPool(settings) as pool:
            idle = asyncio.create_task(pool(request(b"pause" + HTML)))
            assert (await idle).facts.emails
            assert set(_readers().values()) == {psutil.Process().nice()}, "it took time, and no processor"
            slow = asyncio.create_task(pool(request(b"labour" + HTML)))
            while not any(nice > psutil.Process().nice() for nice in _readers().values()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert (await slow).facts.emails
            (patient,) = _readers()
            assert _readers()[patient] == min(19, psutil.Process().nice() + 5)
            assert (await pool(request())).facts.emails
            assert len(_readers()) == 2, "a quick page is not read by a patient process"
            assert (await pool(request(HTML + b" " * settings.large))).facts.emails
            assert patient in _readers()
            assert len(_readers()) == 2, "a large one is"

    run(work())


def test_a_reader_that_pages_are_expected_by_reads_the_first_of_them() -> None:
    """The first page of every run waited until a process had started."""

    async def work() -> None:
        async with ReaderPool(ReaderSettings(processes=1)) as pool:
            for _ in range(2):
                pool.expect()
            while not _readers():  # noqa: ASYNC110  a process starts
                await asyncio.sleep(0.01)
            expected = _readers()
            assert (await pool(request())).facts.emails
            pool.expect()
            assert (await pool(request())).facts.emails
            assert _readers() == expected

    run(work())


def test_a_reader_that_was_expected_in_vain_is_ended() -> None:
    async def work() -> None:
        async with ReaderPool(ReaderSettings(processes=1)) as pool:
            pool.expect()
            while not _readers():  # noqa: ASYNC110  a process starts
                await asyncio.sleep(0.01)
        assert not _readers()

    run(work())


def test_an_expected_reader_that_cannot_be_started_is_told_to_the_first_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReadingLimits, "command", lambda *_: ["no-such-program"])

    async def work() -> None:
        async with ReaderPool(ReaderSettings(processes=1)) as pool:
            pool.expect()
            with pytest.raises(PageReaderLost):
                await pool(request())

    run(work())


def test_a_reader_is_kept_ready_once_pages_come_in_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ordinary pages once waited for the start of a process, because one page was slow."""
    monkeypatch.setattr(reader_pool, "_READY_AFTER", 3)

    async def work() -> None:
        async with ReaderPool(ReaderSettings(processes=1)) as pool:
            for _ in range(2):
                await pool(request())
            assert len(_readers()) == 1
            await pool(request())
            while len(_readers()) < 2:  # noqa: ASYNC110  a process starts
                await asyncio.sleep(0.01)

    run(work())


@pytest.mark.usefixtures("costly")
def test_a_page_whose_reader_is_killed_from_outside_is_read_once_more() -> None:
    """A storm of kills met a reader: the facts of an innocent page were lost."""
    innocent = request(b"pause" + HTML)

    async def killed() -> Any:
        async with ReaderPool(ReaderSettings(slow_pages=0)) as pool:
            await pool(request())
            (reader,) = (child for child in psutil.Process().children() if reader_pool._WARM_UP in child.cmdline())
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
    monkeypatch.setattr(reader_pool, "_WARM_UP", "cocli.no_such_module:warm_up")

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
