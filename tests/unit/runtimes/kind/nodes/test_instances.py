from pathlib import Path

import pytest

from kwokctl.errors import ComponentError, UnavailableError
from runtimes.engine.client import Engine
from runtimes.engine.endpoint import Endpoint
from runtimes.kind.nodes.instances import demand_instances, explained

HERE, ELSEWHERE = Endpoint(url="unix:///run/docker.sock"), Endpoint(url="tcp://192.0.2.1:2376")


def machine(root: Path, *, used: int, limit: int) -> Path:
    settings = root / "proc/sys/fs/inotify"
    settings.mkdir(parents=True)
    (settings / "max_user_instances").write_text(f"{limit}\n")
    descriptors = root / "proc/77/fd"
    descriptors.mkdir(parents=True)
    for number in range(used):
        (descriptors / str(number)).symlink_to("anon_inode:inotify")
    return root


def test_a_node_that_could_not_start_for_want_of_inotify_instances_is_refused(
    tmp_path: Path,
) -> None:
    root = machine(tmp_path, used=113, limit=128)

    with pytest.raises(UnavailableError, match=r"only 15 are available .*=128\)") as caught:
        demand_instances(Engine(HERE), root)

    assert "sudo sysctl fs.inotify.max_user_instances=512" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("endpoint", "used", "limit"), [(HERE, 112, 128), (HERE, 0, 0), (ELSEWHERE, 128, 128)]
)
def test_a_node_that_may_start_is_not_refused(
    tmp_path: Path, endpoint: Endpoint, used: int, limit: int
) -> None:
    demand_instances(Engine(endpoint), machine(tmp_path, used=used, limit=limit))


def test_programs_that_could_not_watch_files_are_named_with_the_remedy() -> None:
    whole = ComponentError("kind cannot make it", detail='error="fsnotify: too many open files"')
    other = ComponentError("kind cannot make it", detail="unknown flag: --no-such")

    lacking = explained(whole)
    assert lacking is not None
    assert "max_user_instances=512" in str(lacking.hint)
    assert lacking.detail == whole.detail
    assert explained(other) is None
