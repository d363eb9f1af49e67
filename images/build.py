"""Builds the images of images/Containerfile with podman, and says how large they are: `make images TARGETS=worker`.

Lint and types run first, and the build takes no other wheel than the one that passed. Where the registry with the base
image cannot be reached, a base is made of Debian's packages by mmdebstrap, which needs root.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".images"
CONTEXT = WORK / "context"
TARGETS = ("cli", "worker", "maps", "web")
_LOCKS = {"cli": "worker", "worker": "worker", "maps": "maps", "web": "web"}
_BASE = "debian:12-slim"
_LOCAL_BASE = "localhost/cocli-base:12"
_PACKAGES = "ca-certificates,python3,python3-venv,tini"
_NEEDED = ("podman", "runc")


class ImagesError(Exception):
    """Why no image can be built here, and what to do."""


def missing() -> list[str]:
    """Programs that this machine lacks."""
    return [program for program in _NEEDED if shutil.which(program) is None]


def podman(*words: str, capture: bool = False, check: bool = True) -> subprocess.CompletedProcess[str]:
    """With a configuration of its own: runc, and limits that this user may set."""
    environ = {**os.environ, "CONTAINERS_CONF": str(_configuration())}
    return subprocess.run(["podman", *words], env=environ, text=True, capture_output=capture, check=check)


def image_name(target: str) -> str:
    return f"localhost/cocli-{target}:latest"


def image_megabytes(target: str = "worker") -> float | None:
    """The size of an image that was built here, in millions of bytes; None if there is none."""
    if missing():
        return None
    said = podman("image", "inspect", "--format", "{{.Size}}", image_name(target), capture=True, check=False)
    return int(said.stdout) / 1e6 if said.returncode == 0 else None


def build(targets: list[str]) -> dict[str, float]:
    """Megabytes by target."""
    lacking = missing()
    if lacking:
        raise ImagesError(f"{' and '.join(lacking)} not installed; as root: apt-get install podman runc mmdebstrap")
    _make_context({_LOCKS[target] for target in targets})
    base = _base()
    for target in targets:
        words = ["build", "--quiet", "--pull=never", "--format=docker", "--target", target, "--tag", image_name(target)]
        words += [f"--build-context={_BASE}=docker-image://{base}"] if base != _BASE else []
        words += ["--network=host", *_apt_settings()] if target == "maps" else ["--network=none"]
        podman(*words, "--file", str(ROOT / "images" / "Containerfile"), str(CONTEXT))
    return {target: image_megabytes(target) or 0.0 for target in targets}


def _apt_settings() -> list[str]:
    """This machine's sources of Debian's packages: the base that is made here has the same."""
    return [f"--volume={path}:{path}:ro" for path in ("/etc/apt", "/etc/ssl/certs") if Path(path).is_dir()]


def _make_context(locks: set[str]) -> None:
    """Everything that the build takes, and nothing else of this folder."""
    subprocess.run(["make", "--silent", "lint", "types"], cwd=ROOT, check=True)
    CONTEXT.mkdir(parents=True, exist_ok=True)
    for old in CONTEXT.glob("cocli-*.whl"):
        old.unlink()
    build_wheel = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(CONTEXT)]
    subprocess.run(build_wheel, cwd=ROOT, check=True)
    (wheel,) = CONTEXT.glob("cocli-*.whl")
    (CONTEXT / "checked").write_text(f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel.name}\n")
    for name in ("install", "healthy"):
        shutil.copy(ROOT / "images" / name, CONTEXT / name)
    shutil.copy(shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "uv", CONTEXT / "uv")
    for lock in sorted(locks):
        file = ROOT / "requirements" / f"image-{lock}.txt"
        shutil.copy(file, CONTEXT / file.name)
        download = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
        download += ["--only-binary=:all:", "--require-hashes", "--dest", str(CONTEXT / "wheels"), "-r", str(file)]
        subprocess.run(download, check=True)


def _base() -> str:
    """Debian's own image, or one of its packages where no registry answers."""
    if podman("image", "exists", _LOCAL_BASE, check=False).returncode == 0:
        return _LOCAL_BASE
    if podman("image", "exists", _BASE, check=False).returncode == 0:
        return _BASE
    if podman("pull", "--quiet", f"docker.io/library/{_BASE}", capture=True, check=False).returncode == 0:
        return _BASE
    tar = WORK / "base.tar"
    if not tar.exists():
        fresh = WORK / "fresh.tar"  # by the end of its name mmdebstrap knows that it is to be an archive
        if shutil.which("mmdebstrap") is None:
            raise ImagesError(f"{_BASE} cannot be fetched; to make a base: as root: apt-get install mmdebstrap")
        excluded = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale")]
        words = ["mmdebstrap", "--quiet", "--variant=apt", f"--include={_PACKAGES}", *excluded, "bookworm"]
        subprocess.run([*words, str(fresh)], check=True)
        fresh.replace(tar)
    podman("import", "--quiet", str(tar), _LOCAL_BASE)
    return _LOCAL_BASE


def _configuration() -> Path:
    """crun, which podman takes by itself, does not run on every kernel; and limits cannot be raised by everybody."""
    WORK.mkdir(exist_ok=True)
    files = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 20_000)
    processes = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    processes = 4096 if processes < 0 else min(processes, 4096)
    limits = json.dumps([f"nofile={files}:{files}", f"nproc={processes}:{processes}"])
    path = WORK / "containers.conf"
    path.write_text(f'[containers]\ndefault_ulimits = {limits}\n[engine]\nruntime = "runc"\n')
    return path


def main(words: list[str]) -> int:
    targets = words or list(TARGETS)
    if unknown := sorted(set(targets) - set(TARGETS)):
        print(f"no such image: {unknown[0]} (there are {', '.join(TARGETS)})", file=sys.stderr)
        return 2
    try:
        sizes = build(targets)
    except ImagesError as error:
        print(f"images: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"images: {error.cmd[0]} ended with {error.returncode}", file=sys.stderr)
        return 1
    for target, megabytes in sizes.items():
        print(f"{image_name(target)}\t{megabytes:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
