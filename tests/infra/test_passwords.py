"""A one-time password goes to a file or to a command, and to nobody else."""

from __future__ import annotations

import stat
import string
from pathlib import Path

import pytest

from cocli.app.infra.password import new_password, password_file, secret_command, tell_command, write_password
from cocli.errors import InfraError, UsageError


def test_every_kind_of_character_is_in_it() -> None:
    made = {new_password() for _ in range(200)}
    assert len(made) == 200
    for password in made:
        assert len(password) >= 20
        for kind in (string.ascii_lowercase, string.ascii_uppercase, string.digits):
            assert set(kind) & set(password)
        assert set(password) - set(string.ascii_letters + string.digits)


def test_a_file_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "anna.txt"
    write_password(password_file(file), "secret")
    assert file.read_text() == "secret\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="exists already"):
        password_file(file)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError):
        password_file(link)


def test_a_command_is_told_by_its_input(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    tell_command(secret_command(f"tee {taken}"), "secret; $(reboot)")
    assert taken.read_text() == "secret; $(reboot)\n"


def test_a_command_that_fails_does_not_tell_the_password() -> None:
    with pytest.raises(InfraError) as caught:
        tell_command(secret_command("sh -c 'cat; cat >&2; exit 3'"), "secret")
    assert "ended with 3" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("command", ["", "   ", "no-such-program-here x", "pass 'insert"])
def test_a_command_that_there_is_not(command: str) -> None:
    with pytest.raises(UsageError):
        secret_command(command)
