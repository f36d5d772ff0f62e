from pathlib import Path

import pytest

from kwokctl.host.memory import available_memory, machine_memory

INSTALLED = "MemTotal:       16384 kB\nMemFree:         1024 kB\n"


def machine(root: Path, **files: str) -> Path:
    places = {
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
