"""`kwokctl doctor` on machines that are really broken: each in mounts, groups or limits of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.control_groups import disk_of, group

Seen = Mapping[str, Any]
Doctor = Callable[..., Seen]

_ROOT = Path(__file__).parents[2]
_MIB = 1 << 20
_STRANGER = 59_173
"""An uid that no program has, so that its inotify instances are those of a test."""
_HOLDER = """
import ctypes, sys
libc = ctypes.CDLL(None)
held = [libc.inotify_init1(0) for _ in range(int(sys.argv[1]))]
assert -1 not in held
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def doctor(environ: dict[str, str], tmp_path: Path) -> Doctor:
    """Run the doctor by another command, and return what a check has seen."""

    def run(check: str, by: Sequence[str] = (), **more: str) -> Seen:
        done = subprocess.run(
            [*by, sys.executable, "-m", "kwokctl", "doctor", "-o", "json"],
            env=environ | {"PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1"} | more,
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.stdout, done.stderr
        seen = json.loads(done.stdout)
        assert done.returncode == (seen["findings"] > 0)
        found: Seen = next(each for each in seen["machine"] if each["check"] == check)
        return found

    return run


@pytest.fixture
def need_root() -> None:
    """Skip a test that changes mounts or users."""
    if os.getuid() or not shutil.which("unshare") or not shutil.which("setpriv"):
        pytest.skip("only root can change mounts and users, with 'unshare' and 'setpriv'")


def findings(seen: Seen) -> list[tuple[str, str]]:
    return [(each["what"], each["remedy"]) for each in seen["findings"]]


def on_a_disk(folder: Path, options: str, then: str = "true") -> list[str]:
    """Return the command that runs another with a disk of its own at a folder."""
    folder.mkdir(exist_ok=True)
    mount = f"mount -t tmpfs -o {options} tmpfs '{folder}'"
    script = f'{mount} || exit 99; {then}; exec "$@"'
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]


def remedy(command: str, variable: str) -> str:
    return f"free space there, as with '{command}', or choose another folder with {variable}"


@pytest.mark.usefixtures("need_root")
@pytest.mark.parametrize(
    ("variable", "below", "command"),
    [
        ("KWOK_WORKDIR", "", "kwokctl delete cluster --name NAME"),
        ("XDG_CACHE_HOME", "/kwokctl", "kwokctl artifacts prune"),
    ],
)
def test_a_full_disk_is_found(
    doctor: Doctor, tmp_path: Path, variable: str, below: str, command: str
) -> None:
    disk = tmp_path / "disk"
    fill = f"mkdir -p '{disk}{below}'; dd if=/dev/zero of='{disk}/filled' bs=1M 2>/dev/null"
    seen = doctor("disk", on_a_disk(disk, "size=8m", fill), **{variable: str(disk)})
    assert findings(seen) == [
        (f"no space is left in '{disk}{below}'", remedy(command, variable)),
    ]
    assert not doctor("disk", on_a_disk(disk, "size=2g"), **{variable: str(disk)})["findings"]


@pytest.mark.usefixtures("need_root")
def test_a_disk_without_room_for_more_files_is_found(doctor: Doctor, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    fix = remedy("kwokctl delete cluster --name NAME", "KWOK_WORKDIR")

    few = doctor("disk", on_a_disk(disk, "size=2g,nr_inodes=21"), KWOK_WORKDIR=str(disk))
    assert findings(few) == [(f"only 20 more files can be made in '{disk}'", fix)]
    none = doctor("disk", on_a_disk(disk, "size=2g,nr_inodes=1"), KWOK_WORKDIR=str(disk))
    assert findings(none) == [(f"only 0 more files can be made in '{disk}'", fix)]
    enough = doctor("disk", on_a_disk(disk, "size=2g,nr_inodes=2000"), KWOK_WORKDIR=str(disk))
    assert not enough["findings"]


def test_a_disk_that_is_slow_to_keep_writes_is_found(doctor: Doctor, tmp_path: Path) -> None:
    disk = disk_of(tmp_path)
    with group("io") as slow:
        slow.write(
            ("blkio.throttle.write_iops_device", f"{disk} 40"), ("io.max", f"{disk} wiops=40")
        )
        [found] = findings(doctor("disk", slow.entered()))
        asked = doctor("disk", slow.entered(), KWOK_ETCD_FSYNC="off")

    assert found[0].endswith(" ms to be on the disk, and etcd waits for it")
    assert found[1].endswith("or create clusters with --etcd-fsync off")
    assert not asked["findings"]


def test_few_open_files_are_found(doctor: Doctor) -> None:
    [found] = findings(doctor("limits", ["prlimit", "--nofile=1000:1000"]))

    assert found[0] == "a process may open 1,000 files, and large clusters need 4,096"
    assert found[1].startswith("raise the limit 'nofile'")
    enough = doctor("limits", ["prlimit", "--nofile=4096:4096"])
    assert enough["state"].startswith("4,096 open files a process")
    assert not enough["findings"]


def test_few_threads_in_the_group_of_a_session_are_found(doctor: Doctor) -> None:
    with group("pids") as session:
        session.write(*[("pids.max", "200")] * 2)
        [found] = findings(doctor("limits", session.entered()))
        session.write(*[("pids.max", "2000")] * 2)
        enough = doctor("limits", session.entered())

    assert found[0].endswith(" more threads can be started, and a cluster needs 500")
    assert 150 < int(found[0].split()[0]) < 200
    assert "TasksMax" in found[1]
    assert not enough["findings"]


def test_too_little_memory_in_the_group_of_a_session_is_found(doctor: Doctor) -> None:
    with group("memory") as session:
        limit = "memory.limit_in_bytes", "memory.max"
        session.write(*[(name, str(300 * _MIB)) for name in limit])
        few = doctor("memory", session.entered())
        session.write(*[(name, str(1 << 50)) for name in limit])
        enough = doctor("memory", session.entered())

    [found] = findings(few)
    assert few["state"].endswith(" of 300Mi available")
    assert " of memory are available, and an empty cluster needs " in found[0]
    # What the doctor itself has is taken from the limit.
    assert int(found[0].partition("Mi ")[0]) < 300
    assert found[1].startswith("raise the memory limit of the container (--memory)")
    assert not enough["findings"]


@pytest.mark.usefixtures("need_root")
def test_used_up_inotify_instances_are_found(doctor: Doctor) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_user_instances").read_text(encoding="ascii"))
    with instances(most - 10):
        seen = doctor("inotify", as_stranger())

    assert seen["state"].startswith(f"{most - 10} of {most} instances in use")
    [found] = findings(seen)
    assert found[0] == "only 10 more inotify instances are available"
    assert found[1].startswith("sudo sysctl fs.inotify.max_user_instances=")
    assert not doctor("inotify", as_stranger())["findings"]


@contextmanager
def instances(number: int) -> Iterator[None]:
    """Have a process of the stranger hold inotify instances."""
    files = ["prlimit", f"--nofile={number + 64}:{number + 64}"]
    with subprocess.Popen(
        [*files, *as_stranger(), sys.executable, "-c", _HOLDER, str(number)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == "ready\n"
        yield
        holder.stdin.close()


def as_stranger() -> list[str]:
    """Return the command that runs another as a user without an account.

    They may read what root may, since this checkout can be in a folder of root's.
    """
    reads = [f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")]
    return ["setpriv", f"--reuid={_STRANGER}", f"--regid={_STRANGER}", "--clear-groups", *reads]
