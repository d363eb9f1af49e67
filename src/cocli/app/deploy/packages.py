"""The locked packages of a release for a host's processor and Python: fetched here, checked by their hashes, packed.

The host asks no package index and needs no pip. An archive is made once per lock, processor and Python, and kept in the
cache.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cocli.config.places import cache_home
from cocli.config.private import make_private
from cocli.errors import DeploymentError, HostUnfit

if TYPE_CHECKING:
    from cocli.config.places import Environment

GLIBC = (2, 28)
"""What the wheels of some packages are built for at the oldest; a 64-bit system of 2019 or later has it."""
PROCESSORS = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_KEY_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Platform:
    """What packages are fetched for."""

    processor: str
    python: str
    """Two numbers: 3.11."""

    @classmethod
    def of(cls, host: str, machine: str, python: str, libc: tuple[str, str]) -> Platform:
        if machine not in PROCESSORS:
            reason = f"its processor is {machine}; packages exist for {', '.join(sorted(set(PROCESSORS.values())))}"
            raise HostUnfit(host=host, reason=reason, hint="A Raspberry Pi needs the 64-bit system.")
        name, version = libc
        if name != "glibc" or _numbers(version) < GLIBC:
            reason = f"its C library is {name or 'unknown'} {version}; glibc 2.28 or newer is needed"
            raise HostUnfit(host=host, reason=reason)
        return cls(PROCESSORS[machine], ".".join(python.split(".")[:2]))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def packages_key(lock: str, platform: Platform) -> str:
    return hashlib.sha256(f"{platform.processor}\n{platform.python}\n{lock}".encode()).hexdigest()[:_KEY_LENGTH]


def packages_archive(lock: str, platform: Platform, environ: Environment) -> bytes:
    """The archive, from the cache or made now."""
    kept = Path(cache_home(environ)) / "deploy" / f"{packages_key(lock, platform)}.tar.gz"
    if not kept.is_file():
        make_private(str(kept.parent))
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            tree, archive = Path(folder) / "tree", Path(folder) / "archive"
            _fetch(lock, platform, tree, environ)
            _pack(tree, archive)
            archive.replace(kept)
    return kept.read_bytes()


def _fetch(lock: str, platform: Platform, tree: Path, environ: Environment) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(lock)
        file.flush()
        words = fetching_words(platform, str(tree), file.name, _uv())
        done = subprocess.run(
            words, capture_output=True, text=True, env=dict(environ) | {"PYTHONPATH": ""}, check=False
        )
    if done.returncode:
        packages = f"The packages for {platform.processor} and Python {platform.python}"
        reason = f"they cannot be fetched: {done.stderr.strip()[-400:]}"
        raise DeploymentError(host=packages, reason=reason, hint="Is the package index reachable from this machine?")


def _uv() -> str | None:
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.is_file() else shutil.which("uv")


def fetching_words(platform: Platform, tree: str, lock: str, uv: str | None) -> list[str]:
    """With uv where it is, which takes seconds; else with pip. Wheels only, and each must have its hash in the lock."""
    shared = ["--quiet", "--target", tree, "--only-binary", ":all:", "--no-deps", "--require-hashes"]
    version = ["--python-version", platform.python]
    if uv is not None:
        wanted = ["--python-platform", f"{platform.processor}-manylinux_{GLIBC[0]}_{GLIBC[1]}"]
        return [uv, "pip", "install", "--python", sys.executable, *shared, *version, *wanted, "-r", lock]
    tags = [f"manylinux_{GLIBC[0]}_{minor}_{platform.processor}" for minor in (28, 26, 24, 17, 12, 5)]
    tags.append(f"manylinux2014_{platform.processor}")
    wanted = [word for tag in tags for word in ("--platform", tag)]
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--no-compile",
        "--implementation",
        "cp",
    ]
    return [*pip, *shared, *version, *wanted, "-r", lock]


def _pack(tree: Path, archive: Path) -> None:
    """Packed lightly: it goes once over a local network, and a small computer unpacks it."""
    with (
        gzip.GzipFile(archive, "wb", compresslevel=1, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for folder, folders, files in os.walk(tree):
            at_top = folder == str(tree)
            folders[:] = sorted(name for name in folders if name != "__pycache__" and not (at_top and name == "bin"))
            for name in sorted(files):
                path = Path(folder) / name
                tar.add(path, arcname=str(path.relative_to(tree)), recursive=False, filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member
