"""The action for GitHub: its steps, run as GitHub's runner does."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from kwokctl import __version__
from tests.support.github_runner import Runner

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(600)]

ACTION = Path(__file__).parents[2] / "action.yaml"


@pytest.fixture(scope="module")
def temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the temporary folder of one job, so that what was installed is installed once."""
    return tmp_path_factory.mktemp("job")


def runner(folder: Path, temp: Path, source: Path) -> Runner:
    github = {"action_path": str(source), "action_repository": "example/kwokctl"}
    return Runner.of(ACTION, folder, temp, github)


@pytest.fixture
def _found(requirements: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip find what kwokctl requires."""
    for name, value in requirements.items():
        monkeypatch.setenv(name, value)


@pytest.mark.network
@pytest.mark.usefixtures("_found")
def test_the_action_installs_the_command_and_the_components_that_are_wanted(
    wheel: Path, temp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No component is here: the step that gets them must say so.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KWOK_ARTIFACT_SOURCE", "offline")
    job = runner(tmp_path, temp, wheel)

    code = job.run(kwok_version=__version__, kube_version="v1.35.4")

    assert (code, job.outputs()) == (1, {"version": f"v{__version__}"})
    assert "kube-apiserver" in job.said[-1]
    assert "v1.35.4 are not in the store" in job.said[-1]
    (folder,) = job.path()
    assert [file.name for file in Path(folder).iterdir()] == ["kwokctl"]
    line = subprocess.run(
        [f"{folder}/kwokctl", "--version"], check=True, capture_output=True, text=True
    ).stdout
    assert line.startswith(f"kwokctl version v{__version__} ")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"command": "kubectl"}, "this action installs 'kwokctl' or 'kwok'"),
        ({"repository": "kubernetes-sigs/kwok"}, "from its own repository"),
    ],
)
def test_an_input_that_cannot_be_fulfilled_is_an_error_before_anything_is_installed(
    tmp_path: Path, inputs: dict[str, str], message: str
) -> None:
    job = runner(tmp_path, tmp_path, tmp_path / "nothing")

    assert job.run(**inputs) == 1

    (said,) = job.said
    assert said.startswith("::error::")
    assert message in said


@pytest.mark.network
@pytest.mark.usefixtures("_found")
def test_of_both_commands_the_one_that_is_named_is_installed(
    wheel: Path, temp: Path, tmp_path: Path
) -> None:
    job = runner(tmp_path, temp, wheel)

    assert job.run(command="kwok") == 0

    (folder,) = job.path()
    assert (Path(folder) / "kwok").is_symlink()
    assert job.outputs() == {"version": f"v{__version__}"}
    subprocess.run([f"{folder}/kwok", "--version"], check=True, capture_output=True)


@pytest.mark.network
@pytest.mark.usefixtures("_found")
def test_another_version_than_that_of_the_action_is_an_error(
    wheel: Path, temp: Path, tmp_path: Path
) -> None:
    job = runner(tmp_path, temp, wheel)

    assert job.run(kwok_version="v99.0.0") == 1

    assert "name another reference in 'uses'" in job.said[-1]
    assert job.path() == []
