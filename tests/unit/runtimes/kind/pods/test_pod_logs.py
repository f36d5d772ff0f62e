from collections.abc import AsyncIterator

from kwokctl.model import ETCD
from runtimes.kind.pods.pod_logs import of_pod, text, was_revived

_AT = b"2026-11-21T10:00:00.1Z stdout "


async def test_only_what_the_pod_has_written_is_left_of_its_log() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield _AT + b"F first line\n" + _AT[:10]
        yield _AT[10:] + b"P half a "
        yield b"\n" + _AT + b"F line\n"

    assert b"".join([part async for part in text(parts())]) == b"first line\nhalf a line\n"


def test_log_files_of_a_pod_are_found_and_sorted() -> None:
    pod = "pods/kube-system_etcd-kwok-c-control-plane_1/etcd"
    files = [
        (f"{pod}/10.log", b"2026-11-21T10:00:02.25Z stderr F d"),
        (f"{pod}/2.log", b"2026-11-21T10:00:02.2Z stderr F c"),
        (f"{pod}/0.log", b"2026-11-21T10:00:02Z stderr F b"),
        (f"{pod}/0.log.20261121-100000.gz", b"packed"),
        ("pods/kube-system_kube-proxy-1_2/kube-proxy/0.log", b"other"),
        (
            "kwokctl/kube-system_etcd-kwok-c-control-plane_/etcd/123.log",
            b"2026-11-21T10:00:01Z stderr F a",
        ),
        (
            "kwokctl/kube-system_etcd-kwok-c-control-plane_/etcd/124.log",
            b"2026-11-21T10:00:02.2Z stderr F c",
        ),
    ]

    found = of_pod(files, name=ETCD, node="kwok-c-control-plane")

    assert b"".join(found) == b"a\nb\nc\nd\n"


def test_a_component_with_a_second_log_has_been_revived() -> None:
    pod = "pods/kube-system_etcd-kwok-c-control-plane_1/etcd"
    other = ("pods/kube-system_kube-scheduler-kwok-c-control-plane_1/kube-scheduler/1.log", b"")
    once = [(f"{pod}/0.log", b""), (f"{pod}/0.log.20261121-100000.gz", b""), other]

    assert not was_revived(once, name=ETCD, node="kwok-c-control-plane")
    assert was_revived([*once, (f"{pod}/1.log", b"")], name=ETCD, node="kwok-c-control-plane")
