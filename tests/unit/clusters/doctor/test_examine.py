from functools import partial
from pathlib import Path

import pytest

from kwokctl.clusters.doctor.check import DoctorFinding, Repair, carry_out_repairs, repairs_of
from kwokctl.clusters.doctor.examine import examine
from kwokctl.components.catalog import usual_options
from kwokctl.errors import ConflictError, NotFoundError, UnavailableError
from tests.support.examined import NAME, machine
from tests.support.fake_runtime import FakeRuntime
from tests.support.listener import Listener
from tests.support.saved_cluster import save_cluster


async def test_a_machine_is_examined_without_a_cluster(tmp_path: Path) -> None:
    seen = await examine(machine(tmp_path), None)
    assert [each.check for each in seen.machine][:2] == ["runtimes", "programs"]
    assert seen.cluster is None


async def test_a_cluster_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        await examine(machine(tmp_path), NAME)


async def test_checks_whose_component_is_not_ready_are_left_out(tmp_path: Path) -> None:
    one = machine(tmp_path)
    save_cluster(one.home.workdir, NAME, usual_options())
    seen = await examine(one, NAME)
    states = {each.check: each.report.state for each in seen.of_cluster}

    assert states["nodes"] == "not checked: 'kube-apiserver' must be ready"
    assert states["etcd"] == "not checked: it does not answer"
    assert "'etcd' does not run" in [each.what for each in seen.findings]


async def test_a_check_that_fails_is_a_finding_and_the_others_go_on(tmp_path: Path) -> None:
    broken = FakeRuntime(fails_at={"check": UnavailableError("no engine", hint="start it")})
    (tmp_path / "cache").write_text("not a folder")
    seen = await examine(machine(tmp_path, broken), None)
    assert seen.findings
    assert seen.machine[-1].check == "orphans"


async def test_a_repair_that_fails_does_not_keep_the_others_and_each_is_done_once() -> None:
    done: list[str] = []
    listener = Listener()

    async def do(what: str) -> None:
        done.append(what)
        if what == "a":
            raise ConflictError("in the way")

    repairs = {what: Repair(what=what, do=partial(do, what)) for what in "ab"}
    findings = [DoctorFinding(what="x", remedy="y", repair=repairs[what]) for what in "aab"]
    found = await carry_out_repairs(repairs_of(findings), listener)

    assert done == ["a", "b"]
    assert [(each.what, each.failure) for each in found] == [("a", "in the way"), ("b", "")]
