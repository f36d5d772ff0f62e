from pathlib import Path

import pytest

from kwokctl import registry
from kwokctl.errors import NotServedError, UsageError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.runtime import WritesScripts
from runtimes.docker.engine_runtime import EngineRuntime


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("nerdctl", "use 'binary', 'docker' or 'podman'"),
        ("lima", "use 'binary', 'docker' or 'podman'"),
        ("finch", "use 'binary', 'docker' or 'podman'"),
        ("kind-finch", "use 'kind' or 'kind-podman'"),
    ],
)
def test_a_runtime_of_the_original_is_refused_with_what_works(
    tmp_path: Path, name: str, remedy: str
) -> None:
    with pytest.raises(NotServedError, match=f"'{name}' is not supported") as caught:
        registry.load(name, Host(WorkDir(tmp_path)))

    assert remedy in str(caught.value.hint)


def test_any_other_name_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no runtime called 'dokcer'") as caught:
        registry.load("dokcer", Host(WorkDir(tmp_path)))

    assert "docker" in str(caught.value.hint)


@pytest.mark.parametrize("name", ["docker", "podman"])
def test_engines_that_have_dockers_api_are_run_by_the_same_code_under_their_own_names(
    tmp_path: Path, name: str
) -> None:
    runtime = registry.load(name, Host(WorkDir(tmp_path)))

    assert runtime.name == name
    assert isinstance(runtime, EngineRuntime)
    assert isinstance(runtime, WritesScripts)
