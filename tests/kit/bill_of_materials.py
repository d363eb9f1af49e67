"""What a release is made of: the locked packages as a CycloneDX document, and their licences as a list.

    python -m tests.kit.bill_of_materials requirements/run.txt --sbom dist/cocli.cdx.json --licences dist/licences.txt

Names, versions and hashes are the lock's; the licences are those that the installed packages declare.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LockedPackage:
    name: str
    version: str
    hashes: tuple[str, ...]
    licence: str


def locked_packages(lock: str) -> list[LockedPackage]:
    found = [
        LockedPackage(match[1], match[2], tuple(_HASH.findall(match[3])), licence_of(match[1]))
        for match in _PINNED.finditer(lock)
    ]
    return sorted(found, key=lambda package: package.name)


def licence_of(name: str) -> str:
    """As the package says it: an SPDX expression, else its own words, else its classifiers."""
    try:
        declared = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return UNKNOWN
    for expression in declared.get_all("License-Expression") or ():
        return str(expression)
    own = next((str(text).strip() for text in declared.get_all("License") or ()), "")
    if own and "\n" not in own and own.upper() != "UNKNOWN":
        return own
    classifiers = [text.rpartition(" :: ")[2] for text in declared.get_all("Classifier") or () if "License ::" in text]
    return "; ".join(classifiers) or UNKNOWN


def cyclonedx(version: str, packages: list[LockedPackage]) -> dict[str, Any]:
    """CycloneDX 1.6. Without a time and a serial number: the same lock gives the same document."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "cocli",
                "name": "cocli",
                "version": version,
                "licenses": [{"license": {"id": "MIT"}}],
                "purl": f"pkg:pypi/cocli@{version}",
            }
        },
        "components": [_component(package) for package in packages],
        "dependencies": [{"ref": "cocli", "dependsOn": [_purl(package) for package in packages]}],
    }


def _purl(package: LockedPackage) -> str:
    return f"pkg:pypi/{re.sub(r'[-_.]+', '-', package.name).lower()}@{package.version}"


def _component(package: LockedPackage) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": _purl(package),
        "name": package.name,
        "version": package.version,
        "purl": _purl(package),
        "licenses": [{"license": {"name": package.licence}}],
        "properties": [{"name": "cocli:sha256", "value": digest} for digest in package.hashes],
    }


def licence_list(packages: list[LockedPackage]) -> str:
    width = max(len(package.name) for package in packages)
    lines = [f"{package.name:{width}}  {package.version:12}  {package.licence}" for package in packages]
    return "\n".join([*lines, "", "Data in the package: GeoNames tables, CC BY 4.0 (cocli/pipeline/plan/geonames)", ""])


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lock", type=Path)
    parser.add_argument("--sbom", type=Path)
    parser.add_argument("--licences", type=Path)
    given = parser.parse_args(words)
    packages = locked_packages(given.lock.read_text("utf-8"))
    listed = licence_list(packages)
    if given.sbom:
        document = cyclonedx(metadata.version("cocli"), packages)
        given.sbom.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", "utf-8")
    if given.licences:
        given.licences.write_text(listed, "utf-8")
    if not given.sbom and not given.licences:
        sys.stdout.write(listed)
    unknown = [package.name for package in packages if package.licence == UNKNOWN]
    if unknown:
        sys.stderr.write(f"no licence is known of: {', '.join(unknown)}\n")
    return int(bool(unknown))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
