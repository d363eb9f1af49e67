"""The packages that are shipped: every one of the lock has a wheel for each processor, and is asked for by its hash."""

from __future__ import annotations

import io
import os
import re
import tarfile
from pathlib import Path

import pytest

from cocli.app.deploy.packages import Platform, fetching_words, packages_archive, packages_key
from cocli.app.deploy.releases import lock_text
from tests.kit.bill_of_materials import UNKNOWN, cyclonedx, licence_list, locked_packages
from tests.kit.effort import effort

_AARCH64 = 183
"""As the head of a program names the processor."""


def test_the_same_lock_gives_the_same_key_and_another_gives_another() -> None:
    pi, server = Platform("aarch64", "3.11"), Platform("x86_64", "3.11")
    assert packages_key("a", pi) == packages_key("a", pi)
    assert len({packages_key("a", pi), packages_key("b", pi), packages_key("a", server)}) == 3


@pytest.mark.parametrize("uv", ["/usr/bin/uv", None])
def test_only_wheels_and_only_by_their_hashes(uv: str | None) -> None:
    words = fetching_words(Platform("aarch64", "3.13"), "/tree", "/lock", uv)
    joined = " ".join(words)
    assert "--require-hashes" in words
    assert "--only-binary :all:" in joined
    assert "--python-version 3.13" in joined
    assert re.search(r"manylinux_2_28_aarch64|aarch64-manylinux_2_28", joined)


@pytest.mark.skipif(effort(1) < 2, reason="asks the package index for 60 MB: make hosts runs it")
@pytest.mark.parametrize("python", ["3.11", "3.13"])
def test_every_package_of_the_lock_has_a_wheel_for_a_raspberry_pi(python: str, tmp_path: Path) -> None:
    data = packages_archive(lock_text(), Platform("aarch64", python), {**os.environ, "COCLI_CACHE_HOME": str(tmp_path)})
    processors = dict[str, int]()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            file = archive.extractfile(member) if ".so" in member.name else None
            head = file.read(20) if file else b""
            if head.startswith(b"\x7fELF"):
                processors[member.name] = int.from_bytes(head[18:20], "little")
    assert len(processors) > 20
    assert set(processors.values()) == {_AARCH64}, processors


def test_the_bill_of_materials_is_the_lock() -> None:
    packages = locked_packages(lock_text())
    pinned = re.findall(r"^([\w.-]+)==", lock_text(), re.MULTILINE)
    assert sorted(package.name for package in packages) == sorted(pinned)
    assert all(package.hashes for package in packages)
    assert [package.name for package in packages if package.licence == UNKNOWN] == []
    document = cyclonedx("1.2.3", packages)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert {component["name"] for component in document["components"]} == set(pinned)
    assert document == cyclonedx("1.2.3", locked_packages(lock_text()))
    assert "GeoNames" in licence_list(packages)
