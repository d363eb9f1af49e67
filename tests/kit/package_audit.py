"""Which of the locked packages are abandoned, and which releases were withdrawn: `make audit`.

The package index is asked through pip's own client, so it is whichever index pip is configured for, with its proxy and
its certificates; no address stands here. Dates are those that the index tells, and where it tells none, that is said.
Known vulnerabilities are not looked up: who has `pip-audit` and may reach its service runs it beside this.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

MONTHS = 24
_DAYS_OF_A_MONTH = 30.44
_GIVEN_UP_AFTER = 3
_LOCKED = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^\s;\\]+)")
_ENDINGS = (".whl", ".tar.gz", ".zip", ".tar.bz2")
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
_JSON = "application/vnd.pypi.simple"


@dataclass(frozen=True)
class Locked:
    """A line of a requirements file."""

    name: str
    version: str


@dataclass(frozen=True)
class ReleaseFile:
    """A file of a release, as the index lists it."""

    filename: str
    uploaded_at: datetime | None = None
    yanked: bool = False

    def version(self, name: str) -> str | None:
        """Of a package of this name; None for a file that is not named like a release."""
        stem = next((self.filename[: -len(ending)] for ending in _ENDINGS if self.filename.endswith(ending)), None)
        wanted = re.sub(r"[-_.]+", "[-_.]+", re.escape(name).replace(r"\-", "-"))
        found = re.match(rf"{wanted}-(?P<version>[0-9][^-]*)", stem or "", re.IGNORECASE)
        return found["version"] if found else None


@dataclass(frozen=True)
class PackageFinding:
    """What the index says of one locked package."""

    locked: Locked
    latest: str | None = None
    released_at: datetime | None = None
    """The newest file of any release."""
    yanked: bool = False
    """The locked release was withdrawn: all its files are marked so."""
    problem: str | None = None

    def is_abandoned(self, now: datetime, months: float) -> bool:
        return self.released_at is not None and now - self.released_at > timedelta(days=months * _DAYS_OF_A_MONTH)


# --- reading


def locked_packages(text: str) -> list[Locked]:
    """The packages of a requirements file with hashes, each once."""
    found = (_LOCKED.match(line) for line in text.splitlines())
    return list(dict.fromkeys(Locked(match["name"], match["version"]) for match in found if match))


def release_files(content_type: str, text: str) -> list[ReleaseFile]:
    """The files on a package's page, in either form that an index may answer with (PEP 503, PEP 691)."""
    if content_type.startswith(_JSON):
        return [
            ReleaseFile(str(file["filename"]), _moment(file.get("upload-time")), bool(file.get("yanked")))
            for file in json.loads(text)["files"]
        ]
    page = _Links()
    page.feed(text)
    return page.files


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.files: list[ReleaseFile] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and given.get("href"):
            filename = str(given["href"]).partition("#")[0].rpartition("/")[2]
            uploaded_at = _moment(given.get("data-upload-time"))
            self.files.append(ReleaseFile(filename, uploaded_at, "data-yanked" in given))


def _moment(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None  # an index may write what it likes: then it tells no date
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def judged(locked: Locked, files: Iterable[ReleaseFile]) -> PackageFinding:
    listed = [(file, version) for file in files if (version := file.version(locked.name)) is not None]
    if not listed:
        return PackageFinding(locked, problem="the index lists no release of it")
    dated = [(file.uploaded_at, version) for file, version in listed if file.uploaded_at is not None]
    newest = max(dated, default=(None, listed[-1][1]))
    ours = [file for file, version in listed if version == locked.version]
    yanked = bool(ours) and all(file.yanked for file in ours)
    return PackageFinding(locked, newest[1], newest[0], yanked)


# --- asking


def page_of_pip() -> Callable[[str], tuple[str, str]]:
    """Asks the index that pip is configured for: the type and the text of a package's page."""
    from pip._internal.commands import create_command
    from pip._internal.exceptions import PipError

    command: Any = create_command("index")
    options, _ = command.parse_args(["versions", "pip", "--retries", "1", "--timeout", "20"])
    session = command._build_session(options)
    finder = command._build_package_finder(options=options, session=session)

    def page(name: str) -> tuple[str, str]:
        (address, *_) = finder.search_scope.get_index_urls_locations(name)
        try:
            answer = session.get(address, headers={"Accept": _ACCEPT})
        except PipError as error:
            raise ConnectionError(str(error)) from error
        answer.raise_for_status()
        return answer.headers.get("Content-Type", ""), answer.text

    return page


def findings(packages: Sequence[Locked], page: Callable[[str], tuple[str, str]]) -> Iterator[PackageFinding]:
    """One by one. Where none of the first few is answered, nobody is there, and the rest is not asked for."""
    unanswered = 0
    for number, locked in enumerate(packages):
        if unanswered == number == _GIVEN_UP_AFTER:
            return
        try:
            yield judged(locked, release_files(*page(locked.name)))
        except (OSError, ValueError, KeyError) as error:  # told in its line: the others are worth knowing
            unanswered += 1
            yield PackageFinding(locked, problem=type(error).__name__)


# --- telling


def told(found: Sequence[PackageFinding], now: datetime, months: float) -> tuple[list[str], int]:
    """The report, and the exit code: 1 where something was withdrawn, or nothing could be asked."""
    unasked = [finding for finding in found if finding.problem is not None]
    if found and len(unasked) == len(found):
        reason = unasked[0].problem
        return [f"The package index cannot be reached ({reason}): nothing was checked. Is this machine offline?"], 1
    yanked = [finding for finding in found if finding.yanked]
    old = sorted((finding for finding in found if finding.is_abandoned(now, months)), key=_age)
    undated = [finding for finding in found if finding.released_at is None and finding.problem is None]
    lines = [f"{len(found)} packages asked for, {len(found) - len(unasked)} answered"]
    lines += [f"withdrawn: {_line(finding)}" for finding in yanked]
    lines += [f"no release for {months:g} months: {_line(finding)}" for finding in old]
    lines += [f"not answered: {finding.locked.name} ({finding.problem})" for finding in unasked]
    if undated:
        lines.append(f"no dates told: {', '.join(finding.locked.name for finding in undated)}")
    return lines, 1 if yanked else 0


def _age(finding: PackageFinding) -> datetime:
    return finding.released_at or datetime.min.replace(tzinfo=UTC)


def _line(finding: PackageFinding) -> str:
    when = f"{finding.released_at:%Y-%m-%d}" if finding.released_at else "no date"
    return f"{finding.locked.name} {finding.locked.version}, the newest is {finding.latest} of {when}"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make audit", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="requirements files with hashes")
    parser.add_argument("--months", type=float, default=MONTHS, help="without a release for longer: abandoned")
    given = parser.parse_args(words)
    packages = [locked for file in given.files for locked in locked_packages(file.read_text("utf-8"))]
    found = list(findings(sorted(set(packages), key=lambda locked: locked.name), page_of_pip()))
    lines, code = told(found, datetime.now(UTC), given.months)
    sys.stdout.write("\n".join(lines) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
