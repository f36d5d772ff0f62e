"""Components that end at their start: the error names the reason and the remedy, and not the whole log."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.installed import Installed, cleared, command, taken_port

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

SIZE = 60 << 20
"""Bytes: less than etcd's log, which is made in files of 64 MB."""


@pytest.fixture
def cluster(installed: Installed) -> Iterator[Installed]:
    with cleared(installed):
        yield installed


def create(cluster: Installed, *before: str, options: Sequence[str] = ()) -> str:
    """Return what a creation says that must fail."""
    done = subprocess.run(
        [*before, *command(), "--name", cluster.name, "create", "cluster", *options],
        env=cluster.environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert cluster.processes() == {}
    return done.stderr


def shown(said: str) -> list[str]:
    """Return the lines of the log that an error shows, and demand that they are few and no JSON."""
    lines = said.partition("\noutput: ")[2].splitlines()
    assert 0 < len(lines) <= 5
    assert [line for line in lines if line.startswith("{") or "goroutine" in line] == []
    return lines


def kept(said: str) -> str:
    found = re.search(r"its whole log: (\S+)", said)
    assert found, said
    return Path(found[1]).read_text()


def test_a_disk_that_is_too_small_for_etcd(cluster: Installed) -> None:
    cluster.workdir.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(cluster.workdir)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here (that takes root)")
    try:
        said = create(cluster)
        whole = kept(said)
    finally:
        subprocess.run(["umount", "--lazy", str(cluster.workdir)], check=True)

    assert f"'etcd' has exited: the disk at '{cluster.workdir}' is full" in said
    assert "KWOK_WORKDIR" in said
    assert any("no space left on device" in line for line in shown(said))
    assert "stacktrace" in whole


def test_too_low_a_limit_of_files(cluster: Installed) -> None:
    said = create(cluster, "sh", "-c", 'ulimit -n 64; exec "$@"', "sh")

    assert "'etcd' has exited: its limit of open files is too low" in said
    assert "ulimit -n 4096" in said
    assert any("limit=64" in line for line in shown(said))
    assert "file descriptor limit" in kept(said)


def test_a_low_limit_that_may_be_raised_is_raised(cluster: Installed) -> None:
    done = subprocess.run(
        ["sh", "-c", 'ulimit -S -n 256; exec "$@"', "sh", *command(), "create", "cluster"],
        env=cluster.environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    for pid in cluster.pids().values():
        limit = re.search(r"Max open files +(\S+) +(\S+)", Path(f"/proc/{pid}/limits").read_text())
        assert limit
        assert limit[1] == limit[2] != "256"


def test_an_argument_that_a_component_does_not_know(cluster: Installed) -> None:
    said = create(cluster, options=("--extra-args", "etcd=no-such-flag=1"))

    assert "'etcd' has exited: it does not know the flag '-no-such-flag'" in said
    assert "--extra-args" in said
    assert "no-such-flag" in "\n".join(shown(said))


def test_a_port_that_is_taken(cluster: Installed) -> None:
    with taken_port() as port:
        said = create(cluster, options=("--etcd-port", str(port)))

    assert f"port {port}, wanted for 'etcd', is in use by " in said
    assert "choose another port" in said


@pytest.mark.parametrize(
    ("content", "mode", "what"),
    [
        (b"<html>Not found</html>\n", 0o755, "a page of HTML or XML"),
        (b"moved\n", 0o755, "text, and no program"),
        (b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\x16\x00" + bytes(44), 0o755, "for s390x"),
        (b"\x7fELF", 0o644, "not executable"),
    ],
    ids=["page", "text", "other processor", "no permission"],
)
def test_a_file_that_is_no_program_of_this_machine(
    cluster: Installed, content: bytes, mode: int, what: str
) -> None:
    program = cluster.temporary / "etcd"
    program.write_bytes(content)
    program.chmod(mode)

    done = cluster.run("create", "cluster", "--etcd-binary", str(program))

    assert done.code in (1, 2)
    assert what in done.err
    assert str(program) in done.err
    assert "hint: " in done.err
    assert "Syntax error" not in done.err
