from pathlib import Path

import pytest

from kwokctl import registry
from kwokctl.errors import NotServedError, UsageError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("podman", "DOCKER_HOST=unix:///run/podman/podman.sock"),
        ("nerdctl", "use 'docker' or 'binary'"),
        ("lima", "use 'docker' or 'binary'"),
        ("finch", "use 'docker' or 'binary'"),
        ("kind-finch", "use 'kind' or 'kind-podman'"),
    ],
)
def test_a_runtime_of_the_original_is_refused_with_what_works(
    tmp_path: Path, name: str, remedy: str
) -> None:
    with pytest.raises(NotServedError, match=f"'{name}' is not supported yet") as caught:
        registry.load(name, Host(WorkDir(tmp_path)))

    assert remedy in str(caught.value.hint)


def test_any_other_name_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no runtime called 'dokcer'") as caught:
        registry.load("dokcer", Host(WorkDir(tmp_path)))

    assert "docker" in str(caught.value.hint)
