"""Packs what this release leaves on disk, for the tests of the releases to come: `python -m tests.support.pack_release`.

It creates a cluster in a folder of its own, marks, records and saves it, and packs its folder with what was written
beside it into `tests/golden/releases`. What the controller answers to a command is written there, too.

`python -m tests.support.pack_release COMMIT` does so with the code of an earlier commit of this clone, run by this Python with the
packages that it has; the files are named for the commit, in its first eight digits.
"""

import io
import json
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from kwokctl import __version__
from kwokctl.host.paths import cache_dir
from kwokctl.replacing import replace
from tests.support.earlier_releases import (
    ANSWERS_SUFFIX,
    FOLDER,
    MARK,
    NAME,
    NODE,
    NODES,
    PODS,
    PODS_AT_MARK,
    SUFFIX,
    is_text,
)
from tests.support.installed import Installed, cleared, until

_STAGE = """\
kind: Stage
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: pod-labelled}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchLabels: {watched: "yes"}
    matchExpressions:
    - {key: '.metadata.annotations["seen"]', operator: DoesNotExist}
  next:
    patches:
    - {root: metadata, template: 'annotations: {seen: "yes"}'}
"""
_OF_PROCESSES = ("logs", "pids", "run")
"""Folders of a cluster whose files are those of its processes."""
_CREATE = (
    "create", "cluster", "--wait", "--nodes", str(NODES), "--pods", str(PODS_AT_MARK),
    "--extra-args", "kube-scheduler=v=4", "--etcd-quota-backend-size", "1Gi",
)  # fmt: skip


def main() -> None:
    """Make the cluster, and pack it."""
    if sys.argv[1:]:
        commit = _git("rev-parse", "--verify", f"{sys.argv[1]}^{{commit}}").decode().strip()
        with _code_of(commit) as code:
            _pack(commit[:8], {"PYTHONPATH": str(code)})
    else:
        _pack(__version__, {})


def _pack(release: str, settings: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory(prefix="kwokctl-release-") as folder:
        cluster = replace(Installed.within(Path(folder)), name=NAME, settings=settings)
        made = Path(folder) / "made"
        made.mkdir()
        with cleared(cluster):
            _live(cluster, made)
            answers = FOLDER / f"{release}{ANSWERS_SUFFIX}"
            answers.write_text(json.dumps(_answers(cluster), indent=1) + "\n", encoding="utf-8")
            cluster.ok("stop", "cluster")
            shutil.copytree(cluster.workdir / "clusters" / NAME, made / "cluster")
        packed = FOLDER / f"{release}{SUFFIX}"
        packed.write_bytes(lzma.compress(_packed(made, cluster), preset=9 | lzma.PRESET_EXTREME))
    sys.stdout.write(f"{packed}\n")


@contextmanager
def _code_of(commit: str) -> Iterator[Path]:
    """Write the product as it was at a commit into a folder, and remove it in the end."""
    with tempfile.TemporaryDirectory(prefix="kwokctl-code-") as folder:
        archive = _git("archive", commit, "--", "kwokctl", "runtimes", "templates")
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


def _git(*words: str) -> bytes:
    return subprocess.run(
        ["git", *words], cwd=FOLDER.parents[2], stdout=subprocess.PIPE, check=True
    ).stdout


def _live(cluster: Installed, made: Path) -> None:
    stage = cluster.folder / "own.yaml"
    stage.write_text(_STAGE, encoding="utf-8")
    cluster.ok(*_CREATE, "--config", str(stage))
    cluster.ok("snapshot", "mark", MARK)
    recording = made / "record.yaml"
    recorder = cluster.start("snapshot", "record", "--path", str(recording))
    until("the recording has begun", lambda: _part(recording))
    cluster.kubectl("label", "pod", "pod-000000", "watched=yes")
    cluster.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    cluster.ok("scale", "pod", "--replicas", str(PODS), "--wait")
    recorder.send_signal(signal.SIGINT)
    said = recorder.communicate(timeout=60)[1]
    if recorder.returncode:
        raise subprocess.CalledProcessError(recorder.returncode, "snapshot record", said)
    cluster.ok("snapshot", "save", "--path", str(made / "snapshot.db"))
    cluster.ok("snapshot", "save", "--format", "k8s", "--path", str(made / "objects.yaml"))


def _answers(cluster: Installed) -> dict[str, Any]:
    """Return what the controller answers to a command, by what it was asked."""
    port = cluster.components()["kwok-controller"]["ports"][0]["hostPort"]
    token = (cluster.workdir / "clusters" / NAME / "kwok-controller.token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def answer(path: str, body: bytes | None = None) -> str:
        request = Request(f"http://127.0.0.1:{port}{path}", data=body, headers=headers)
        with urlopen(request) as response:
            return str(response.read().decode())

    asked = ("/seen", "/kubelet", "/stages", "/stages/generation")
    wanted = json.dumps({"nodes": {NODE: 2}}).encode()
    return {
        **{f"GET {path}": json.loads(answer(path)) for path in asked},
        "POST /pod-addresses": json.loads(answer("/pod-addresses", wanted)),
        "GET /metrics": answer("/metrics"),
    }


def _part(recording: Path) -> bool:
    return any(file.stat().st_size for file in recording.parent.glob(f"{recording.name}*"))


def _packed(made: Path, cluster: Installed) -> bytes:
    names = {
        cluster.workdir: b"/former/work",
        cache_dir(): b"/former/cache",
        Path(sys.executable): b"/former/python",
        cluster.kubeconfig: b"/former/kubeconfig",
    }
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path in _files(made):
            entry = tarfile.TarInfo(str(path.relative_to(made)))
            entry.mode = path.stat().st_mode & 0o777
            if path.is_dir():
                entry.type = tarfile.DIRTYPE
                tar.addfile(entry)
                continue
            content = path.read_bytes()
            if is_text(path, made):
                for own, name in names.items():
                    content = content.replace(os.fsencode(own), name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def _files(made: Path) -> Iterator[Path]:
    for path in sorted(made.rglob("*")):
        if path.parent.name not in _OF_PROCESSES:
            yield path


if __name__ == "__main__":
    main()
