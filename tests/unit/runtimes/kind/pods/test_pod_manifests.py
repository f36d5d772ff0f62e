""""""

import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from kwokctl.model import ETCD, KUBE_SCHEDULER, ComponentName
from runtimes.kind.pods.pod_manifests import (
    asking_which_are_known,
    ending_at_once,
    putting_aside,
    taking_up,
)

GETENT = """\
#!/bin/sh
[ "$1" = ahostsv4 ] && echo "{address} STREAM node"
"""


@pytest.fixture
def at(tmp_path: Path) -> Path:
    """A node's folder with two manifests."""
    (tmp_path / "manifests").mkdir()
    (tmp_path / "bin").mkdir()
    for name in (ETCD, KUBE_SCHEDULER):
        (tmp_path / "manifests" / f"{name}.yaml").write_text("at: 10.89.0.4:1, not: 10.89.0.41\n")
    return tmp_path


@pytest.fixture
def run(at: Path) -> Callable[..., None]:
    """Run a command on a node that has this address."""

    def run(command: tuple[str, ...], *, address: str = "10.89.0.4") -> None:
        getent = at / "bin" / "getent"
        getent.write_text(GETENT.format(address=address))
        getent.chmod(0o755)
        path = f"{at / 'bin'}:{os.environ['PATH']}"
        subprocess.run(command, check=True, env={**os.environ, "PATH": path})

    return run


def manifests(folder: Path) -> set[str]:
    return {file.stem for file in folder.glob("*.yaml")}


def test_manifests_are_put_aside_and_taken_up_again_whether_or_not_they_are_there(
    at: Path, run: Callable[..., None]
) -> None:
    here = PurePosixPath(at)
    for _ in range(2):
        run(putting_aside([ETCD], here))
    assert manifests(at / "manifests") == {KUBE_SCHEDULER}
    assert manifests(at / "stopped") == {ETCD}

    for _ in range(2):
        run(taking_up([ETCD], here))
    assert manifests(at / "manifests") == {ETCD, KUBE_SCHEDULER}


def test_what_is_put_aside_follows_the_node_to_another_address(
    at: Path, run: Callable[..., None]
) -> None:
    here = PurePosixPath(at)
    run(putting_aside([ETCD], here))
    run(putting_aside([KUBE_SCHEDULER], here), address="10.89.0.5")
    assert "at: 10.89.0.5:1, not: 10.89.0.41" in (at / "stopped" / "etcd.yaml").read_text()

    run(taking_up([ETCD], here), address="10.89.0.6")

    assert "at: 10.89.0.6:1, not: 10.89.0.41" in (at / "manifests" / "etcd.yaml").read_text()


def test_a_pod_that_begins_again_is_another_one_to_the_kubelet(
    at: Path, run: Callable[..., None]
) -> None:
    here, manifest = PurePosixPath(at), at / "manifests" / "etcd.yaml"
    text = "kind: Pod\nmetadata:\n  name: etcd\nspec: {}\n"
    manifest.write_text(text)
    uids = []
    for _ in range(2):
        run(putting_aside([ETCD], here))
        run(taking_up([ETCD], here))
        lines = manifest.read_text().splitlines(keepends=True)
        uids.append(lines.pop(2))
        assert "".join(lines) == text

    assert all(line.startswith("  uid: ") for line in uids)
    assert uids[0] != uids[1]


def test_a_pod_is_known_by_the_uid_in_the_name_of_its_logs(at: Path) -> None:
    logs, pods = at / "logs", at / "pods"
    for name, uid in ((ETCD, "1a"), (KUBE_SCHEDULER, "2b")):
        (logs / f"kube-system_{name}-{socket.gethostname()}_{uid}").mkdir(parents=True)
    (pods / "1a").mkdir(parents=True)

    command = asking_which_are_known(
        [ETCD, KUBE_SCHEDULER],
        PurePosixPath(at),
        logs=PurePosixPath(logs),
        pods=PurePosixPath(pods),
    )

    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() == [
        ETCD
    ]


def test_programs_end_while_there_is_no_kubelet(at: Path, run: Callable[..., None]) -> None:
    name = ComponentName("kwokctl-test-of-ending")
    manifest, program = at / "manifests" / f"{name}.yaml", at / "bin" / name
    manifest.write_text("")
    shutil.copy2(shutil.which("sleep") or "", program)
    systemctl, log = at / "bin" / "systemctl", at / "log"
    systemctl.write_text(
        f'#!/bin/sh\necho "$1 $2: $(ls {at}/manifests | grep -c {name})" >>{log}\n'
    )
    systemctl.chmod(0o755)
    with subprocess.Popen([program, "600"]) as victim:
        reaper = threading.Thread(target=victim.wait)
        reaper.start()
        run(ending_at_once([name], PurePosixPath(at)))
        reaper.join()

    assert victim.returncode == -signal.SIGKILL
    assert log.read_text().splitlines() == ["stop kubelet: 1", "start kubelet: 0"]
