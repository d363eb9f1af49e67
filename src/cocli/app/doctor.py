"""Is this machine ready? One check each for what can go wrong, and for each failure what to do about it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.app.program import DoctorCheck, Status, extras, program, requirements
from cocli.app.workspace import Workspace
from cocli.config.resolve import load_user_file, resolve, unknown_variables
from cocli.errors import CocliError, Unavailable
from cocli.exit_codes import ExitCode
from cocli.formats.secrets import mask
from cocli.store.kinds import store_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.workspace import Campaign
    from cocli.config.places import Environment
    from cocli.config.resolve import Flags
    from cocli.store.base import Store

_CLOCK_LIMIT_SECONDS = 60
_DISK_LOW_BYTES = 1 << 30
_DISK_FULL_BYTES = 100 << 20
_BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "headless_shell")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All checks. `store_safe` is False where the store ignores conditional writes."""

    checks: tuple[DoctorCheck, ...]
    store_safe: bool

    @property
    def exit_code(self) -> ExitCode:
        if not self.store_safe:
            return ExitCode.UNSAFE_STORE
        failed = any(check.status is Status.FAILED for check in self.checks)
        if failed:
            return ExitCode.FAILURE
        return ExitCode.OK


def diagnose(environ: Environment, flags: Flags) -> Diagnosis:
    """Look at everything, whatever fails on the way."""
    checks = [program(), *requirements(), *_environment(environ)]
    safe = True
    try:
        user = load_user_file(environ)
        checks.append(_user_file(environ, user is not None))
        settings = resolve(environ, flags, user, None)
    except CocliError as error:
        checks.append(_failed("configuration", error))
    else:
        workspace = Workspace(settings)
        try:
            store_checks, safe = _stores(workspace, flags.campaign)
            checks += store_checks
            if safe and not any(check.status is Status.FAILED for check in store_checks):
                checks += _data(workspace, flags.campaign)
        finally:
            workspace.close()
    return Diagnosis((*checks, *_privacy(environ), _disk(environ), _browser(environ), *extras()), safe)


def _failed(name: str, error: CocliError) -> DoctorCheck:
    return DoctorCheck(name, Status.FAILED, mask(error.message), _fix(error.hint))


def _fix(hint: str | None) -> str | None:
    """Errors send people to the doctor; here they need to be sent on."""
    if hint and "doctor" in hint:
        return "Check the address, the credentials, the network and the server."
    return hint


# --- configuration ---------------------------------------------------------------------------------------------------


def _environment(environ: Environment) -> Iterator[DoctorCheck]:
    for name, meant in unknown_variables(environ):
        fix = "Remove it; docs/reference/configuration.md lists all variables."
        if meant:
            fix = f"Did you mean {meant}?"
        yield DoctorCheck("environment", Status.WARNING, f"{name} is not a setting", fix)


def _user_file(environ: Environment, there: bool) -> DoctorCheck:
    from cocli.config.places import user_file

    path = user_file(environ)
    if there:
        return DoctorCheck("configuration", Status.OK, path)
    return DoctorCheck("configuration", Status.OPTIONAL, f"no {path} (optional)", "To have one: cocli init")


# --- the store -------------------------------------------------------------------------------------------------------


def _stores(workspace: Workspace, campaign: str | None) -> tuple[list[DoctorCheck], bool]:
    """Check the store that is configured and, where a campaign names another one, that one."""
    try:
        store = workspace.store
    except CocliError as error:
        return [_failed("store", error)], True
    checks, safe = _store(store)
    checks[1:1] = _credentials(str(workspace.settings.store.value))
    if campaign is None or any(check.status is Status.FAILED for check in checks):
        return checks, safe
    try:
        loaded = workspace.campaign(campaign)
    except CocliError as error:
        return [*checks, _failed(f"campaign {campaign}", error)], safe
    checks.append(_campaign(loaded))
    if loaded.store is not store:
        more, also_safe = _store(loaded.store)
        more[1:1] = _credentials(str(loaded.settings.store.value))
        checks, safe = checks + more, safe and also_safe
    return checks, safe


def _campaign(campaign: Campaign) -> DoctorCheck:
    try:
        campaign.settings.model()
    except CocliError as error:
        return _failed(f"campaign {campaign.name}", error)
    return DoctorCheck(f"campaign {campaign.name}", Status.OK, campaign.file.name)


def _store(store: Store) -> tuple[list[DoctorCheck], bool]:
    from cocli.store.probe import probe

    checks = [DoctorCheck("store", Status.OK, store.address)]
    try:
        report = probe(store)
    except CocliError as error:
        return [_failed("store", error)], True
    checks += [
        DoctorCheck(f"store {check.name}", Status.OK if check.ok else Status.FAILED, check.detail, _fix(check.fix))
        for check in report.checks
    ]
    if not any(isinstance(check.error, Unavailable) for check in report.checks):  # a refusal may be the clock's fault
        checks.append(_clock(store))
    return checks, not report.broken


def _data(workspace: Workspace, campaign: str | None) -> Iterator[DoctorCheck]:
    from cocli.app.data_checks import check_data

    for finding in check_data(workspace, campaign):
        if finding.problem is None:
            yield DoctorCheck(finding.name, Status.OK, finding.detail)
        else:
            status = Status.FAILED if finding.urgent else Status.WARNING
            yield DoctorCheck(finding.name, status, mask(finding.problem), finding.fix)


def _credentials(address: str) -> list[DoctorCheck]:
    """Whose credentials are used, for a store that needs some. What they are is nobody's business."""
    if not store_kind(address).has_credentials:
        return []
    from urllib.parse import parse_qs, urlsplit

    from cocli.store.credentials import find_credentials

    profile = parse_qs(urlsplit(address).query).get("profile", [None])[0]
    try:
        return [DoctorCheck("credentials", Status.OK, find_credentials(profile).source)]
    except CocliError as error:
        return [_failed("credentials", error)]


def _clock(store: Store) -> DoctorCheck:
    try:
        difference = (store.now() - datetime.now(UTC)).total_seconds()
    except CocliError as error:
        return _failed("clock", error)
    detail = f"{abs(difference):.1f} s {'behind' if difference > 0 else 'ahead of'} the store's"
    if abs(difference) > _CLOCK_LIMIT_SECONDS:
        return DoctorCheck(
            "clock", Status.FAILED, detail, "Set this machine's clock, for example: timedatectl set-ntp true"
        )
    return DoctorCheck("clock", Status.OK, detail)


# --- the machine -----------------------------------------------------------------------------------------------------


def _privacy(environ: Environment) -> Iterator[DoctorCheck]:
    from cocli.app.privacy import open_folders

    found = list(open_folders(environ))
    for folder in found:
        detail = f"{folder.path} is open to {folder.who}"
        yield DoctorCheck("privacy", Status.WARNING, detail, f"Close it with: {folder.fix}")
    if not found:
        yield DoctorCheck("privacy", Status.OK, "data, state and cache are closed to others")


def _disk(environ: Environment) -> DoctorCheck:
    from cocli.config.places import data_home

    home = folder = data_home(environ)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    free = shutil.disk_usage(folder).free
    detail = f"{free / (1 << 30):.1f} GiB free at {home}"
    if free < _DISK_LOW_BYTES:
        status = Status.FAILED if free < _DISK_FULL_BYTES else Status.WARNING
        return DoctorCheck("disk", status, detail, "Free some space, or set COCLI_DATA_HOME to another disk.")
    return DoctorCheck("disk", Status.OK, detail)


def _browser(environ: Environment) -> DoctorCheck:
    wanted = environ.get("COCLI_BROWSER")
    candidates = (wanted,) if wanted else _BROWSERS
    found = next((path for name in candidates if (path := shutil.which(name, path=environ.get("PATH")))), None)
    if found:
        return DoctorCheck("browser", Status.OK, found)
    detail = "no Chromium found (optional: Google Maps and script-only sites)"
    if wanted:
        detail = f"{wanted} was not found"
    return DoctorCheck("browser", Status.OPTIONAL, detail, "Install Chromium, or set COCLI_BROWSER to its path.")
