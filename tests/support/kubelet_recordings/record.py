"""Records what a real kubelet makes of the cases: `python -m tests.support.kubelet_recordings.record`.

Needs root, Go and what clusters on kind need; takes some ten minutes. Words on the command line are the
names of the only cases that are recorded; `--add` keeps the runs that were recorded before, and `--rounds`
says how many are to come.
"""

import argparse
import asyncio
import json
import os
import subprocess
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tests.support import engines, on_kind
from tests.support.go_programs import built
from tests.support.installed import Installed, until
from tests.support.kubelet_recordings import pressure
from tests.support.kubelet_recordings.cases import IMAGE, Action, Case, cases
from tests.support.kubelet_recordings.views import View, event_line, without_repeats
from tests.support.kubelet_recordings.watching import PodWatch, watching
from tests.support.node_image import node_image

_NAME = "recorder"
_NODE = f"kwok-{_NAME}-control-plane"
_TOGETHER = 13
_PATIENCE = 90.0
"""Seconds in which a container begins on a busy machine."""
_GONE = ("gone",)
"""The view of a pod that is not there any more."""


class Recorder:
    """A cluster with a real kubelet, and what it has shown of each case."""

    def __init__(self, cluster: Installed) -> None:
        self._cluster = cluster
        self.runs: dict[str, list[list[View]]] = {}
        self.events: dict[str, set[str]] = {}

    def read(self, chosen: Sequence[Case]) -> None:
        """Take over what was recorded before."""
        for case in chosen:
            if case.recording.exists():
                before = yaml.safe_load(case.recording.read_text(encoding="utf-8"))
                views = [tuple(view) for view in before["views"]]
                self.runs[case.name] = [[views[at] for at in run] for run in before["runs"]]
                self.events[case.name] = {*before["events"]}

    def round(self, chosen: Sequence[Case]) -> None:
        """Run each case once, all at the same time."""
        words = ("get", "pods", "-o", "json", "--watch", "--output-watch-events")
        with watching(self._cluster.start("kubectl", *words)) as watch:
            plays = [threading.Thread(target=self._play, args=(case, watch)) for case in chosen]
            for play in plays:
                play.start()
            for play in plays:
                play.join()
            self._note(chosen, watch)
        self._clear()

    def write(self, chosen: Sequence[Case]) -> None:
        """Write what has been recorded so far."""
        for case in chosen:
            case.recording.parent.mkdir(exist_ok=True)
            text = written(self.runs[case.name], self.events.get(case.name, set()))
            case.recording.write_text(text, encoding="utf-8")

    def _play(self, case: Case, watch: PodWatch) -> None:
        body = {**case.body, "spec": {**case.body["spec"], "nodeName": _NODE}}
        self._cluster.kubectl("create", "-f", "-", stdin=json.dumps(body))
        begin = time.monotonic()
        while not watch.has_begun(case.name) and time.monotonic() < begin + _PATIENCE:
            time.sleep(0.1)
        begin = time.monotonic()
        for action in case.actions:
            time.sleep(max(0.0, begin + action.at - time.monotonic()))
            self._act(case, action)
        time.sleep(max(0.0, begin + case.seconds * 1.5 + 8 - time.monotonic()))

    def _act(self, case: Case, action: Action) -> None:
        pod = ("pod", case.name)
        if action.delete is not None:
            self._cluster.kubectl("delete", *pod, f"--grace-period={action.delete}", "--wait=false")
        if action.status is not None:
            self._patch(*pod, "status", {"status": action.status})
        if action.resize is not None:
            self._patch(*pod, "resize", {"spec": action.resize})
        if action.presses:
            pressure.begin(_NODE)

    def _patch(self, kind: str, name: str, part: str, patch: Mapping[str, Any]) -> None:
        words = ("--subresource", part, "--type", "strategic", "-p", json.dumps(patch))
        self._cluster.kubectl("patch", kind, name, *words)

    def _note(self, chosen: Sequence[Case], watch: PodWatch) -> None:
        for case in chosen:
            views = without_repeats(watch.views[case.name])
            if case.name in watch.gone:
                views.append(_GONE)
            self.runs.setdefault(case.name, []).append(views)
        for event in self._cluster.objects("events"):
            name = event["involvedObject"]["name"]
            self.events.setdefault(name, set()).add(event_line(event))

    def _clear(self) -> None:
        """Delete what a round has left; a busy etcd may take several tries."""
        pressure.end(_NODE)
        until("the node has memory", self._has_memory)
        for words in (("pods", "--force", "--grace-period=0"), ("events",)):
            until(f"{words[0]} are gone", partial(self._deletes, *words))

    def _has_memory(self) -> bool:
        [node] = self._cluster.objects("nodes", f"--field-selector=metadata.name={_NODE}")
        states = {each["type"]: each["status"] for each in node["status"]["conditions"]}
        return (states["MemoryPressure"], states["Ready"]) == ("False", "True")

    def _deletes(self, *words: str) -> bool:
        return self._cluster.run("kubectl", "delete", *words, "--all").code == 0


def written(runs: Sequence[Sequence[View]], events: set[str]) -> str:
    """Return a recording as text: the views, what followed what in each run, and the Events."""
    views = list(dict.fromkeys(view for run in runs for view in run))
    document = {
        "views": [list(view) for view in views],
        "runs": [[views.index(view) for view in run] for run in runs],
        "events": sorted(events),
    }
    return yaml.safe_dump(document, width=1000, sort_keys=False, default_flow_style=None)


@contextmanager
def real_node() -> Iterator[Installed]:
    """Yield a cluster on kind, whose node has the image of the program."""
    with (
        tempfile.TemporaryDirectory(prefix="kwokctl-record-") as name,
        engines.started() as daemon,
    ):
        folder = Path(name)
        os.environ |= {"DOCKER_HOST": daemon.url, "CGO_ENABLED": "0"}
        cluster = Installed.within(folder).called(_NAME)
        file = asyncio.run(node_image(nullcontext(daemon.url)))
        try:
            on_kind.create(cluster, "--kind-node-image", str(file), "--wait")
            _load(built("contained_program", folder))
            pressure.allow(_NODE)
            yield cluster
        finally:
            cluster.run("delete", "cluster")


def _load(program: Path) -> None:
    """Make an image of nothing but a program, and give it to the node."""
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w") as layer:
            layer.add(program, "contained")
        file.seek(0)
        subprocess.run(["docker", "import", "-", IMAGE], stdin=file, check=True)
    saved = subprocess.run(["docker", "save", IMAGE], capture_output=True, check=True)
    ctr = ["docker", "exec", "-i", _NODE, "ctr", "-n", "k8s.io", "images", "import", "-"]
    subprocess.run(ctr, input=saved.stdout, check=True)


def batched(chosen: Sequence[Case]) -> Iterator[Sequence[Case]]:
    """Yield cases in groups of those that take about as long: a node that has less to do shows more.

    One in which the node evicts is a group of its own.
    """
    yield from ([case] for case in chosen if case.presses)
    ordered = sorted((c for c in chosen if not c.presses), key=lambda case: case.seconds)
    for first in range(0, len(ordered), _TOGETHER):
        yield ordered[first : first + _TOGETHER]


def main() -> None:
    """Record the cases of these names, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    chosen = [case for case in cases() if not given.names or case.name in given.names]
    engines.run_beside_another()
    with real_node() as cluster:
        recorder = Recorder(cluster)
        if given.add:
            recorder.read(chosen)
        for number in range(given.rounds):
            for some in batched(chosen):
                recorder.round(some)
            recorder.write(chosen)
            print(f"round {number + 1} of {given.rounds}", flush=True)


if __name__ == "__main__":
    main()
