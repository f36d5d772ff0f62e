import os
import tempfile
from pathlib import Path

import pytest

from kwokctl.errors import UnavailableError
from kwokctl.host.paths import ClusterPaths, cache_dir, default_workdir, expanded


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Be a user of whom the machine knows nothing but a number."""
    for name in ("HOME", "KWOK_WORKDIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    return monkeypatch


def test_without_a_home_folder_the_work_folder_must_be_given(
    homeless: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(UnavailableError, match="HOME is not set, and user 54321") as caught:
        default_workdir()
    assert "KWOK_WORKDIR" in str(caught.value.hint)

    homeless.setenv("KWOK_WORKDIR", str(tmp_path))
    assert default_workdir() == tmp_path
    assert cache_dir() == tmp_path / "cache"


def test_a_home_folder_that_is_not_there_is_an_error_that_names_the_path() -> None:
    with pytest.raises(UnavailableError, match="'~nobody-at-all/x' is in a home folder"):
        expanded("~nobody-at-all/x")


@pytest.mark.parametrize("name", ["plain", "with space", "ü", "a;b", "a=b", "it's", "$x", "a:b"])
def test_sockets_lie_in_the_cluster_s_folder(name: str) -> None:
    root = Path("/w") / name

    assert ClusterPaths(root).sockets == root / "run"


@pytest.mark.parametrize("name", ["x" * 90, *(f"a{c}b" for c in ',%"#?\\\n\t')])
def test_a_path_that_no_socket_url_can_hold_gets_a_short_link(name: str) -> None:
    sockets = ClusterPaths(Path("/w") / name).sockets

    assert sockets.parent != Path("/w") / name
    assert sockets.name.startswith("kwokctl-")
    assert sockets == ClusterPaths(Path("/w") / name).sockets
    assert sockets != ClusterPaths(Path("/w2") / name).sockets


def test_a_folder_for_temporary_files_that_is_no_better_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "a,b"))

    assert ClusterPaths(Path("/w/a,b")).sockets.parent == Path("/tmp")
