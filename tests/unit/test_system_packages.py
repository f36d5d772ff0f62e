"""Programs of the system that tests need: see tests/support/debian.py."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import debian

ROOT, USER = 0, 1000


@pytest.mark.parametrize(
    ("environment", "user", "why"),
    [
        ({}, ROOT, "that needs INSTALL=yes or CI=true"),
        ({"INSTALL": "no", "CI": "true"}, ROOT, "that needs INSTALL=yes or CI=true"),
        # Many build scripts name a program by it.
        ({"INSTALL": "/usr/bin/install"}, ROOT, "that needs INSTALL=yes or CI=true"),
        ({"CI": "1"}, ROOT, "that needs INSTALL=yes or CI=true"),
        ({"INSTALL": "yes"}, USER, "only root may install them"),
        ({"CI": "true"}, USER, "only root may install them"),
        ({"INSTALL": "yes"}, ROOT, ""),
        ({"CI": "true"}, ROOT, ""),
    ],
    ids=str,
)
def test_packages_are_installed_by_root_and_only_where_the_user_agrees(
    environment: Mapping[str, str],
    user: int,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "apt-get").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert debian.obstacle(environment, user) == why


def test_nothing_is_installed_without_apt_get(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert debian.obstacle({"INSTALL": "yes"}, ROOT) == "there is no apt-get"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a machine with nothing but an apt-get, which writes down what it is asked for."""
    asked = tmp_path / "asked"
    program = tmp_path / "bin" / "apt-get"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    for name in ("INSTALL", "CI"):
        monkeypatch.delenv(name, raising=False)
    return asked


def test_what_is_missing_is_said_and_not_installed(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert debian.provide() == []

    said = capsys.readouterr().out
    assert "missing programs: dockerd, iptables, " in said
    assert "Debian packages: " in said
    assert "docker.io, " in said
    assert "nothing is installed: that needs INSTALL=yes or CI=true" in said
    assert not asked.exists()


def test_what_is_installed_is_said_before(
    asked: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSTALL", "yes")
    monkeypatch.setattr("os.getuid", lambda: ROOT)

    assert debian.provide() == []

    said = capsys.readouterr().out
    assert said.index("docker.io") < said.index("installing")
    words = [line.split()[1:] for line in asked.read_text().splitlines()]
    assert words[0] == ["update"]
    assert ["install", "-y", "--no-install-recommends", "docker.io", "iptables"] in words
    assert {name for each in words[1:] for name in each} >= {"podman", "debootstrap", "zsh", "fish"}


def test_a_test_that_needs_a_program_says_how_to_install_it(asked: Path) -> None:
    with pytest.raises(debian.NotInstalledError, match="'zsh' is not installed; as root, `make"):
        debian.need(debian.SHELLS)
