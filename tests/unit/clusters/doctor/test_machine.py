import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.artifacts.store import Entry
from kwokctl.clusters.doctor.machine import (
    clock,
    disk,
    free_ports,
    inotify,
    limits,
    memory,
    programs,
    rights,
    runtimes,
    sites,
    store,
)
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.clusters.doctor.machine.machine_checks import CHECKS
from kwokctl.components.catalog import usual_options
from kwokctl.errors import UnavailableError
from kwokctl.model import ClusterName
from kwokctl.replacing import replace
from tests.support.examined import machine, whats, write
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.fake_runtime import FakeRuntime
from tests.support.saved_cluster import save_cluster

_ROOT = Path(__file__).parents[4]
_LIMITED = """
import asyncio, pathlib, resource
from kwokctl.clusters.doctor.machine import limits
from tests.support.examined import machine, whats
resource.setrlimit(resource.RLIMIT_NOFILE, (1_000, 1_000))
print(*whats(asyncio.run(limits.look(machine(pathlib.Path("/nowhere"))))), sep="\\n")
"""
"""Prints what is wrong with the limits of a process that has a low one."""
_MISSING = "not in the store, and 'offline' does not download: "


def stored(folder: Path, name: str = "etcd") -> Entry:
    """Put a program into the store of a machine."""
    home = machine(folder).home
    entering = home.cache / "tmp" / name
    entering.parent.mkdir(parents=True, exist_ok=True)
    entering.write_bytes(b"#!/bin/sh\n")
    publish = store_of(home.cache, here()).publish
    return publish(entering, name=name, version="3.6.16", source="build", origin="")


def test_each_check_of_a_machine_has_a_name_of_its_own() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)


async def test_a_runtime_that_does_not_work_is_noted_with_the_reason(tmp_path: Path) -> None:
    class Choosy(FakeRuntime):
        async def check(self) -> None:
            self.asked.append("check")
            if len(self.asked) > 1:
                raise UnavailableError("there is no engine", hint="start it")

    report = await runtimes.look(machine(tmp_path, Choosy()))

    assert report.state.endswith("would work")
    assert all(note.endswith(": there is no engine") for note in report.notes)
    assert report.findings == ()


async def test_it_is_wrong_that_no_wanted_runtime_works(tmp_path: Path) -> None:
    broken = FakeRuntime(fails_at={"check": UnavailableError("no", hint="start it")})
    report = await runtimes.look(machine(tmp_path, broken))

    assert whats(report) == ["no runtime works: 'binary', 'docker'"]
    assert report.findings[0].remedy == "start it; start it"


async def test_programs_that_nothing_gets_are_named(tmp_path: Path) -> None:
    one = machine(tmp_path, options={"artifact_source": "offline"})
    [what] = whats(await programs.look(one))

    assert what.startswith(_MISSING)
    assert "kube-apiserver" in what


async def test_a_program_that_was_given_and_is_gone_is_named(tmp_path: Path) -> None:
    gone = str(tmp_path / "etcd")
    found = whats(await programs.look(machine(tmp_path, options={"etcd_binary": gone})))

    assert len(found) == 1
    assert gone in found[0]


async def test_a_changed_program_is_found_and_so_is_half_of_one(tmp_path: Path) -> None:
    entry, whole = stored(tmp_path), stored(tmp_path, "etcdctl")
    entry.path.write_bytes(b"#!/bin/sh\nevil\n")
    (whole.path.parent / "record.json").unlink()
    one = machine(tmp_path)

    report = await store.look(one)
    changed, half = report.findings
    assert changed.what == f"'{entry.path}' has changed since it was stored"
    assert half.what == f"'{whole.path.parent}' holds an incomplete program"

    assert half.repair
    await half.repair.do()
    assert whats(await store.look(one)) == [changed.what]


async def test_a_folder_of_a_cluster_that_others_may_enter_is_closed(tmp_path: Path) -> None:
    one = machine(tmp_path)
    save_cluster(one.home.workdir, ClusterName("main"), usual_options())
    root = one.home.paths(ClusterName("main")).root
    root.chmod(0o755)
    [finding] = (await rights.look(one)).findings

    assert str(root) in finding.what
    assert finding.repair
    await finding.repair.do()
    assert whats(await rights.look(one)) == []


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir(mode=0o500)
    [what] = whats(await rights.look(machine(tmp_path)))

    assert what == f"this user cannot write to '{tmp_path / 'work'}'"


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
async def test_a_store_that_is_shared_need_not_be_writable(tmp_path: Path) -> None:
    stored(tmp_path)
    one = machine(tmp_path)
    one.home.cache.chmod(0o500)

    seen = await rights.look(one)

    assert (whats(seen), seen.notes) == (
        [],
        ("this user cannot add programs: their folder belongs to another user",),
    )


async def test_the_disk_is_measured_and_nothing_stays(tmp_path: Path) -> None:
    before = tmp_path.stat().st_mtime_ns
    report = await disk.look(machine(tmp_path))

    assert " free, a write is on the disk after " in report.state
    assert not [*tmp_path.iterdir()]
    assert tmp_path.stat().st_mtime_ns == before


@pytest.mark.parametrize(("fsync", "is_wrong"), [("on", True), ("off", False)])
async def test_a_slow_disk_is_wrong_where_etcd_waits_for_it(
    tmp_path: Path, fsync: str, is_wrong: bool
) -> None:
    slow = machine(tmp_path, options={"etcd_fsync": fsync})
    found = whats(await disk.look(slow, lambda _: 0.045))

    said = "a write takes 45 ms to be on the disk, and etcd waits for it"
    assert found == ([said] if is_wrong else [])


async def test_a_file_system_without_room_is_named(tmp_path: Path) -> None:
    full = with_cache(tmp_path, Path("/proc"))
    assert whats(await disk.look(full, lambda _: 0)) == ["no space is left in '/proc'"]


async def test_a_file_system_from_which_nothing_runs_is_named(tmp_path: Path) -> None:
    lines = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    there = next((line[1] for line in lines if "noexec" in line[3].split(",")), "")
    if not there:
        pytest.skip("no file system here is mounted with 'noexec'")
    found = whats(await rights.look(with_cache(tmp_path, Path(there))))
    assert f"programs in '{there}' cannot be run: it is mounted with 'noexec'" in found


def with_cache(folder: Path, cache: Path) -> Machine:
    usual = machine(folder)
    return replace(usual, home=replace(usual.home, cache=cache))


def test_a_limit_of_open_files_is_found() -> None:
    # In a process of its own, for only root could raise it again.
    found = subprocess.run(
        [sys.executable, "-c", _LIMITED], cwd=_ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout == "a process may open 1,000 files, and large clusters need 4,096\n"


async def test_too_few_free_ports_are_found(tmp_path: Path) -> None:
    sockets = (f"   0: 0100007F:{port:04X} 00000000:0000 0A" for port in range(10_005, 32_767))
    write(tmp_path, {"proc/net/tcp": "\n".join(("head", *sockets))})
    assert whats(await free_ports.look(machine(tmp_path))) == ["only 5 ports are free"]


async def test_a_machine_without_memory_for_a_cluster_is_found(tmp_path: Path) -> None:
    write(tmp_path, {"proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 200000 kB\n"})
    [what] = whats(await memory.look(machine(tmp_path)))

    assert "of memory are available, and an empty cluster needs" in what


async def test_a_clock_that_was_set_back_is_found(tmp_path: Path) -> None:
    assert whats(await clock.look(machine(tmp_path))) == []
    [what] = whats(await clock.look(machine(tmp_path, wall=lambda: 1e9)))
    assert what.startswith("the clock is ")


@pytest.mark.parametrize("group", ["sys/fs/cgroup/pids", "sys/fs/cgroup/pids/pids"])
async def test_a_limit_of_threads_is_found(tmp_path: Path, group: str) -> None:
    write(tmp_path, {f"{group}.max": "600\n", f"{group}.current": "590\n"})
    assert whats(await limits.look(machine(tmp_path)))[-1:] == [
        "10 more threads can be started, and a cluster needs 500"
    ]


async def test_used_up_inotify_instances_are_counted(tmp_path: Path) -> None:
    settings = "proc/sys/fs/inotify/max_user"
    write(tmp_path, {f"{settings}_instances": "17\n", f"{settings}_watches": "8192\n"})
    descriptors = tmp_path / "proc" / "77" / "fd"
    descriptors.mkdir(parents=True)
    for number in "3", "4":
        (descriptors / number).symlink_to("anon_inode:inotify")
    report = await inotify.look(machine(tmp_path))

    assert report.state == "2 of 17 instances in use, 8,192 watches"
    assert whats(report) == ["only 15 more inotify instances are available"]


async def test_a_chosen_port_that_another_program_has_is_found(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        report = await free_ports.look(machine(tmp_path, options={"etcd_port": port}))
    [what] = whats(report)
    assert what.startswith(f"port {port}, wanted for '--etcd-port', is in use")


async def test_ports_that_the_kernel_may_take_are_noted(tmp_path: Path) -> None:
    write(tmp_path, {"proc/sys/net/ipv4/ip_local_port_range": "1024\t65535\n"})
    [note] = (await free_ports.look(machine(tmp_path))).notes
    assert note.startswith("the kernel takes ports from 1024 on")


async def test_sites_are_asked_only_on_request(tmp_path: Path) -> None:
    report = await sites.look(machine(tmp_path))
    sites_of_programs = "dl.k8s.io, github.com, registry.k8s.io"
    assert report.state == f"not checked: {sites_of_programs}; '--online' checks them"


@pytest.mark.parametrize(("status", "found"), [(404, []), (503, ["127.0.0.1 answers 503"])])
async def test_a_site_that_answers_is_reached_whatever_it_answers(
    tmp_path: Path, status: int, found: list[str]
) -> None:
    async def answer(_: Request, reply: Reply) -> None:
        await reply.send(b"", status=status)

    async with serving(answer) as mirror:
        at = mirror.url.removeprefix("http://")
        prefixes = {f"{each}_binary_prefix": mirror.url for each in ("kube", "etcd")}
        images: Mapping[str, str] = {f"{each}_image_prefix": at for each in ("kube", "etcd")}
        report = await sites.look(
            machine(tmp_path, options={**prefixes, **images}, asks_sites=True)
        )
    assert {*whats(report)} == {*found}
