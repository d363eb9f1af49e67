"""`make wheels`: asks the package index which wheel of each locked package a 64-bit Raspberry Pi takes.

Writes requirements/wheels.txt: package, version, file, hash. Fails where a package has none: it would have to be built
on the Pi.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCKS = ("run", "image-worker", "image-maps", "image-web")
_PLATFORMS = [*(f"manylinux_2_{number}_aarch64" for number in range(36, 16, -1)), "manylinux2014_aarch64"]
"""What glibc 2.36 of Debian 12 can load."""
_HEAD = (
    "# The wheels of a 64-bit Raspberry Pi (Debian 12, Python 3.11): package, version, file, sha256. By: make wheels\n"
)


def chosen(lock: str) -> dict[str, tuple[str, str, str]]:
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        words = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "install",
            "--quiet",
            "--dry-run",
            "--no-deps",
        ]
        words += [
            "--ignore-installed",
            "--only-binary=:all:",
            "--require-hashes",
            "--python-version=3.11",
            "--target=x",
        ]
        words += [f"--platform={platform}" for platform in _PLATFORMS]
        words += [
            "--implementation=cp",
            "--abi=cp311",
            "--abi=abi3",
            "--abi=none",
            f"--report={report.name}",
            "-r",
            str(ROOT / "requirements" / f"{lock}.txt"),
        ]
        subprocess.run(words, check=True)
        found = json.loads(Path(report.name).read_text())["install"]
    rows = {}
    for entry in found:
        name = re.sub(r"[._]", "-", entry["metadata"]["name"].lower())
        file = entry["download_info"]["url"].rpartition("/")[2]
        digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
        rows[name] = (entry["metadata"]["version"], file, digest)
    return rows


def main() -> int:
    rows: dict[str, tuple[str, str, str]] = {}
    for lock in LOCKS:
        rows |= chosen(lock)
    lines = [f"{name} {version} {file} {digest}\n" for name, (version, file, digest) in sorted(rows.items())]
    (ROOT / "requirements" / "wheels.txt").write_text(_HEAD + "".join(lines))
    print(f"{len(rows)} packages have a wheel for aarch64")
    return 0


if __name__ == "__main__":
    sys.exit(main())
