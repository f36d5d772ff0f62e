import sys
from pathlib import Path

import pytest

from kwokctl.cli.suggestions import get_nodes, own_name


@pytest.fixture
def command(tmp_path: Path) -> Path:
    """A command that is on no PATH yet."""
    path = tmp_path / "a b" / "kwokctl"
    path.parent.mkdir()
    path.touch(mode=0o755)
    return path


def test_a_command_that_is_not_on_the_path_is_called_as_it_was(
    command: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "argv", [str(command)])
    assert own_name() == f"'{command}'"

    monkeypatch.chdir(command.parent.parent)
    monkeypatch.setattr(sys, "argv", ["a b/kwokctl"])
    assert own_name() == "'a b/kwokctl'"


def test_a_command_that_is_on_the_path_has_its_name(
    command: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(command.parent))
    monkeypatch.setattr(sys, "argv", [str(command)])

    assert own_name() == "kwokctl"


def test_another_command_of_that_name_is_not_meant(
    command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "kwokctl"
    other.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [str(command)])

    assert own_name() == f"'{command}'"


@pytest.mark.parametrize("called", ["/venv/kwokctl/__main__.py", "-c", ""])
def test_what_is_no_command_has_the_usual_name(
    called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [called])

    assert own_name() == "kwokctl"


def test_nodes_are_shown_by_the_kubectl_that_there_is(
    command: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(command.parent))
    assert get_nodes("--context c", "kwokctl --name n") == "kwokctl --name n kubectl get nodes"

    command.with_name("kubectl").touch(mode=0o755)
    assert get_nodes("--context c", "kwokctl --name n") == "kubectl --context c get nodes"
