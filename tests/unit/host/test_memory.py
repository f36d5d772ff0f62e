from pathlib import Path

import pytest

from kwokctl.host.memory import available_memory, is_limited, machine_memory, oom_kills

INSTALLED = "MemTotal:       16384 kB\nMemFree:         1024 kB\n"


GROUPS = "4:memory:/outer/inner\n1:name=systemd:/\n0::/outer/inner\n"


def machine(root: Path, **files: str) -> Path:
    places = {
        "groups": "proc/self/cgroup",
        "outer": "sys/fs/cgroup/outer/memory.max",
        "taken": "sys/fs/cgroup/outer/memory.current",
        "stat": "sys/fs/cgroup/outer/memory.stat",
        "outer_first": "sys/fs/cgroup/memory/outer/memory.limit_in_bytes",
        "taken_first": "sys/fs/cgroup/memory/outer/memory.usage_in_bytes",
        "stat_first": "sys/fs/cgroup/memory/outer/memory.stat",
        "meminfo": "proc/meminfo",
        "first": "sys/fs/cgroup/memory/memory.limit_in_bytes",
        "second": "sys/fs/cgroup/memory.max",
    }
    for name, text in files.items():
        file = root / places[name]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "size"),
    [
        ({"meminfo": INSTALLED}, 16 << 20),
        ({"meminfo": INSTALLED, "second": "max\n"}, 16 << 20),
        ({"meminfo": INSTALLED, "second": "1048576\n"}, 1 << 20),
        ({"meminfo": INSTALLED, "first": "2097152\n"}, 2 << 20),
        ({"meminfo": INSTALLED, "first": "9223372036854771712\n"}, 16 << 20),
        ({"second": "1048576\n"}, 1 << 20),
        ({"meminfo": INSTALLED, "outer": "1048576\n", "groups": GROUPS}, 1 << 20),
        ({"meminfo": INSTALLED, "outer_first": "2097152\n", "groups": GROUPS}, 2 << 20),
        ({"meminfo": INSTALLED, "second": "1048576\n", "groups": "0::/elsewhere\n"}, 1 << 20),
        ({"meminfo": INSTALLED, "outer": "1048576\n", "groups": "0::/../outer\n"}, 16 << 20),
        ({}, 0),
    ],
)
def test_the_memory_is_that_of_the_machine_or_of_a_smaller_container(
    tmp_path: Path, files: dict[str, str], size: int
) -> None:
    assert machine_memory(machine(tmp_path, **files)) == size


@pytest.mark.parametrize(
    ("files", "size"),
    [
        ({"meminfo": f"{INSTALLED}MemAvailable:    8192 kB\n"}, 8 << 20),
        ({"meminfo": f"{INSTALLED}MemAvailable:    8192 kB\n", "second": "1048576\n"}, 1 << 20),
        ({"meminfo": INSTALLED}, 16 << 20),
        ({}, 0),
    ],
)
def test_what_is_available_is_no_more_than_what_there_is(
    tmp_path: Path, files: dict[str, str], size: int
) -> None:
    assert available_memory(machine(tmp_path, **files)) == size


@pytest.mark.parametrize(
    ("suffix", "stat"),
    [
        ("", "anon 700000\ninactive_file 100000\nactive_file 50000\n"),
        ("_first", "inactive_file 7\ntotal_inactive_file 100000\ntotal_active_file 50000\n"),
    ],
)
def test_what_a_group_has_already_is_not_available_except_contents_of_files(
    tmp_path: Path, suffix: str, stat: str
) -> None:
    files = {"outer": "1000000\n", "taken": "850000\n", "stat": stat}
    group = {f"{name}{suffix}": text for name, text in files.items()}
    root = machine(tmp_path, groups=GROUPS, meminfo=INSTALLED, **group)
    assert available_memory(root) == 300_000


def test_a_group_that_is_full_has_a_byte_rather_than_an_unknown_number(tmp_path: Path) -> None:
    root = machine(tmp_path, groups=GROUPS, outer="1000\n", taken="1000\n")
    assert available_memory(root) == 1


def test_memory_is_limited_where_a_group_has_less_than_the_machine(tmp_path: Path) -> None:
    assert not is_limited(machine(tmp_path, meminfo=INSTALLED, second="max\n"))
    assert is_limited(machine(tmp_path, second="1048576\n"))


def test_processes_that_were_killed_for_lack_of_memory_are_counted(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    assert oom_kills(tmp_path) == 0
    (tmp_path / "proc/vmstat").write_text("nr_free_pages 7\noom_kill 3\ndrop_pagecache 0\n")

    assert oom_kills(tmp_path) == 3
