"""The packages that are shipped: every one of the lock has a wheel for each processor, and is asked for by its hash."""

from __future__ import annotations

import re

import pytest
from tests.kit.bill_of_materials import UNKNOWN, cyclonedx, licence_list, locked_packages

from cocli.app.deploy.packages import Platform, fetching_words, packages_key
from cocli.app.deploy.releases import lock_text


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
