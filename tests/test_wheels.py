"""Every dependency has a wheel for the processors that cocli runs on: looked up in the lock, without a network.

A lock has the hashes of all files of a version, not their names. `requirements/wheels.txt` names the file that pip
chose for a 64-bit Pi; the test holds that it was chosen from the lock that is in use. `make wheels` writes it anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = ("run", "image-worker", "image-maps", "image-web")
_PIN = re.compile(r"(?m)^([A-Za-z0-9._-]+)==(\S+)")


def pins(text: str) -> dict[str, set[str]]:
    """Package → versions: some have another one for another Python."""
    found: dict[str, set[str]] = {}
    for name, version in _PIN.findall(text):
        found.setdefault(re.sub(r"[._]", "-", name.lower()), set()).add(version)
    return found


@pytest.fixture(scope="module")
def wheels() -> dict[str, tuple[str, str, str]]:
    """Package → version, file, hash."""
    lines = (ROOT / "requirements" / "wheels.txt").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return {re.sub(r"[._]", "-", name): (version, file, digest) for name, version, file, digest in rows}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_has_a_wheel_for_aarch64(lock: str, wheels: dict[str, tuple[str, str, str]]) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    wanted = pins(text)
    assert wanted
    missing = {name for name, versions in wanted.items() if name not in wheels or wheels[name][0] not in versions}
    assert missing == set(), "the lock has changed: make wheels"
    for name in wanted:
        _, file, digest = wheels[name]
        assert re.search(r"-(?:any|manylinux\w*_aarch64(?:\.manylinux\w*_aarch64)*)\.whl$", file), file
        assert f"sha256:{digest}" in text, f"{file} is not a file of the lock"
