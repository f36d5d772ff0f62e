"""`addons list`: what there is, and what a cluster has of it; `addons copy`: one that can be changed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kwokctl.clusters.state.home import cluster_name
from kwokctl.components.catalog import usual_options
from kwokctl.config.add_ons.enabling import resolve_with_add_ons
from kwokctl.config.options import ClusterOptions
from kwokctl.host.paths import WorkDir, default_workdir
from tests.support.saved_cluster import save_cluster

Words = Callable[[str], int]
Capture = pytest.CaptureFixture[str]
GREETER = Path(__file__).parents[1] / "support" / "greeter_add_on"


def enabling(*words: str) -> ClusterOptions:
    return resolve_with_add_ons(usual_options(), {"enable": words}, {}, ()).resolved.options


def listed(capfd: Capture) -> Mapping[str, object]:
    return {each["name"]: each["enabled"] for each in json.loads(capfd.readouterr().out)}


def test_all_that_enable_takes_is_listed_without_a_cluster(words: Words, capfd: Capture) -> None:
    assert words("addons list") == 0

    rows = [line.split() for line in capfd.readouterr().out.splitlines()[1:]]
    assert {row[2] for row in rows} == {"-"}
    assert {"jobset", "kueue", "metrics-server", "prometheus"} <= {row[0] for row in rows}
    assert "etcd" not in {row[0] for row in rows}
    for name in sorted(row[0] for row in rows):
        enabling(name)


def test_what_a_cluster_has_is_marked_also_what_is_of_a_folder(
    words: Words, capfd: Capture
) -> None:
    options = enabling("jobset", str(GREETER))
    save_cluster(WorkDir(default_workdir()), cluster_name("fleet"), options)

    assert words("--name fleet addons list -o json") == 0

    found = listed(capfd)
    assert found["jobset"] is True
    assert found["kueue"] is False
    assert found["greeter"] is True


def test_a_cluster_that_is_named_must_exist(words: Words, capfd: Capture) -> None:
    assert words("--name other addons list") == 1
    assert "there is no cluster called 'other'" in capfd.readouterr().err


def test_an_add_on_is_copied_and_the_copy_can_be_enabled(
    words: Words, capfd: Capture, tmp_path: Path
) -> None:
    assert words(f"addons copy jobset --to {tmp_path}") == 0

    assert f"create cluster --enable {tmp_path}/jobset" in capfd.readouterr().err
    copied = enabling(str(tmp_path / "jobset")).extras
    assert copied
    assert [each.name for each in copied] == [each.name for each in enabling("jobset").extras]


def test_no_folder_is_overwritten_by_a_copy(words: Words, capfd: Capture, tmp_path: Path) -> None:
    mine = tmp_path / "jobset" / "mine"
    mine.mkdir(parents=True)

    assert words(f"addons copy jobset --to {tmp_path}") == 1
    assert "nothing is overwritten" in capfd.readouterr().err
    assert list((tmp_path / "jobset").iterdir()) == [mine]


def test_an_add_on_that_there_is_not_is_not_copied(words: Words, capfd: Capture) -> None:
    assert words("addons copy jobsets") == 2
    assert "jobset" in capfd.readouterr().err


def test_nothing_is_copied_into_a_folder_that_does_not_exist(
    words: Words, capfd: Capture, tmp_path: Path
) -> None:
    assert words(f"addons copy jobset --to {tmp_path}/absent") == 2
    assert f"'--to' is '{tmp_path}/absent', not a folder" in capfd.readouterr().err
    assert not list(tmp_path.glob("absent"))
