"""Any program as a way to find contacts: it reads HTML on stdin, knows the page's address, and prints JSON.

A program that starts slowly may be kept running instead (`--stream`): it reads a line of JSON per page,
`{"url": …, "country": …, "html": …}`, and prints one line each.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.contacts.answer import Answer, BadAnswer, answer_of
from benchmarks.contacts.truth import Labelled
from cocli.pipeline.websites.page.charset import decode

SECONDS = 60.0
"""How long a program may take for a page."""
URL, COUNTRY = "CONTACTS_URL", "CONTACTS_COUNTRY"


@dataclass(frozen=True, slots=True)
class EachTime:
    """Starts the program for every page."""

    words: tuple[str, ...]

    def __call__(self, page: Labelled, body: bytes) -> Answer:
        done = subprocess.run(
            [*self.words, page.url],
            input=body,
            capture_output=True,
            timeout=SECONDS,
            env={**os.environ, URL: page.url, COUNTRY: page.country or ""},
        )
        if done.returncode:
            raise BadAnswer(
                f"{page.path.name}: ended with {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}"
            )
        return answer_of(done.stdout.decode("utf-8"), page)


class KeptRunning:
    """Asks one process for page after page."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, page: Labelled, body: bytes) -> Answer:
        told, heard = self._process.stdin, self._process.stdout
        if told is None or heard is None:
            raise BadAnswer("the program has no stdin or stdout")
        watch = threading.Timer(SECONDS, self._process.kill)  # a program that says nothing ends the run
        watch.start()
        try:
            told.write(json.dumps({"url": page.url, "country": page.country, "html": decode(body)}) + "\n")
            told.flush()
            line = heard.readline()
        finally:
            watch.cancel()
        if not line:
            raise BadAnswer(f"{page.path.name}: the program ended or took longer than {SECONDS:.0f} s")
        return answer_of(line, page)


@contextmanager
def program(command: str, *, stream: bool) -> Iterator[EachTime | KeptRunning]:
    """A program by its command line, for as long as pages are asked for."""
    words = tuple(shlex.split(command))
    if not stream:
        yield EachTime(words)
        return
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        try:
            yield KeptRunning(process)
        finally:
            if process.stdin:
                process.stdin.close()
            process.wait(SECONDS)
