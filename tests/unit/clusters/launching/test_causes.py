"""Why programs have ended, by what they wrote: lines of the real components."""

from pathlib import Path

import pytest

from kwokctl.clusters.launching.causes import cause_in, ends, last_run, said, shown
from kwokctl.model import ETCD, ClusterName
from tests.support.fake_runtime import FakeRuntime

USAGE = ["Error: unknown flag: --no-such-flag", "Usage:", *(f"  --flag-{n}" for n in range(40))]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("write /nowhere/a/b: no space left on device", "the disk at '/nowhere/a/b' is full"),
        ("panic: failed to create WAL: no space left on device", "the disk is full"),
        ("open /nowhere/a: disk quota exceeded", "this user's quota of the disk at '/nowhere/a' is"),
        ("mkdir /nowhere/a: read-only file system", "the disk at '/nowhere/a' is read-only"),
        ("accept4: too many open files", "its limit of open files is too low"),
        ("file descriptor limit of etcd process is too low; please set higher, limit=64", "its limit of open files is too low"),
        ("too many open files in system", "this machine has too many open files"),
        ("inotify_init: too many open files", "too many inotify instances"),
        ("listen tcp 127.0.0.1:2379: bind: address already in use", "port 2379 is in use"),
        ("listen tcp 192.0.2.1:1: bind: cannot assign requested address", "this machine does not have the address"),
        ("fatal error: runtime: cannot allocate memory", "there is not enough memory"),
        ("fatal error: runtime: out of memory", "there is not enough memory"),
        ("runtime: failed to create new OS thread (have 5 already; errno=11)", "no more threads"),
        ("=== 2026-11-27T21:03:16Z killed by signal 9 ===", "most often by the kernel for lack of memory"),
        ("RuntimeError: can't start new thread", "no more threads"),
        ("open /nowhere/pki/ca.key: permission denied", "it may not use '/nowhere/pki/ca.key'"),
        ("sh: 7: exec: /nowhere/etcd: Exec format error", "built for another kind of processor"),
        ("/nowhere/etcd: /lib/libc.so.6: version `GLIBC_2.38' not found", "needs libraries"),
        ("flag provided but not defined: -no-such", "it does not know the flag '-no-such'"),
        ("Error: unknown flag: --no-such", "it does not know the flag '--no-such'"),
    ],
)  # fmt: skip
def test_a_known_reason_is_named_with_its_remedy(line: str, what: str) -> None:
    cause = cause_in(["starting", line, "exiting"])

    assert cause
    assert what in cause.what
    assert cause.remedy


@pytest.mark.parametrize("line", ["caught SIGTERM", "panic: assertion failed", ""])
def test_what_is_not_known_has_no_cause(line: str) -> None:
    assert cause_in([line]) is None


def test_the_latest_reason_counts_and_a_path_may_be_in_another_line(tmp_path: Path) -> None:
    lines = [
        "open /nowhere/x: permission denied",
        f"failed to preallocate: no space left on device, path={tmp_path}/wal",
        "failed to create WAL: no space left on device",
    ]

    cause = cause_in(lines)

    assert cause
    disk = next(each for each in (tmp_path, *tmp_path.parents) if each.is_mount())
    assert cause.what == f"the disk at '{disk}' is full"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            ('{"level":"panic","ts":"2026-11-27T21:03:16Z","caller":"x.go:1","msg":"failed to create WAL",'
            '"error":"no space left on device","stacktrace":"a\\n\\tb"}'),
            "failed to create WAL: no space left on device",
        ),
        ('{"level":"fatal","msg":"too low","limit":64,"url":["x"]}', "too low, limit=64"),
        ('{"time":"2026-11-27T21:03:16Z","level":"INFO","message":"ends"}', "ends"),
        ("I1127 21:03:16.887759 1 server.go:1] Starting", "I1127 21:03:16.887759 1 server.go:1] Starting"),
        ('{"torn', '{"torn'),
        ("{}", "{}"),
    ],
)  # fmt: skip
def test_of_a_line_in_json_the_message_is_shown(line: str, text: str) -> None:
    assert said(line) == text


async def test_what_was_written_before_the_last_start_and_stacks_are_left_out() -> None:
    log = b"""\
=== 2026-11-27T21:03:16Z started by kwokctl ===
no space left on device
=== 2026-11-27T21:05:16Z started by kwokctl ===
one

panic: two

goroutine 1 [running]:
main.main()
"""

    lines = await last_run(FakeRuntime(log=log), ClusterName("main"), ETCD)

    assert shown(lines) == "one\npanic: two"


def test_at_most_five_lines_are_shown_and_the_reason_is_among_them() -> None:
    cause = cause_in(ends(USAGE))

    assert cause
    assert cause.what == "it does not know the flag '--no-such-flag'"
    assert shown(USAGE, cause.line) == USAGE[0]
    assert shown(USAGE).splitlines() == USAGE[-5:]
