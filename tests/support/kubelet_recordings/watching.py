"""Follows the pods of a cluster for the recorder: every version that the API shows."""

import json
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from tests.support.kubelet_recordings.views import View, view_of

_BEFORE = frozenset(("PodInitializing", "ContainerCreating"))


class PodWatch:
    """What was seen of each pod, by its name."""

    def __init__(self) -> None:
        self.views: defaultdict[str, list[View]] = defaultdict(list)
        self.last: dict[str, Mapping[str, Any]] = {}
        self.gone: set[str] = set()

    def read(self, lines: IO[str]) -> None:
        """Take what `kubectl get --watch --output-watch-events -o json` writes, until it ends."""
        for event in map(json.loads, lines):
            pod = event["object"]
            name = pod["metadata"]["name"]
            if event["type"] == "DELETED":
                self.gone.add(name)
            self.views[name].append(view_of(pod))
            self.last[name] = pod

    def has_begun(self, name: str) -> bool:
        """Return whether something has become of a pod."""
        status = self.last.get(name, {}).get("status") or {}
        every = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
        reasons = {each["state"].get("waiting", {}).get("reason") for each in every}
        return status.get("phase") == "Failed" or not reasons <= _BEFORE


@contextmanager
def watching(process: subprocess.Popen[str]) -> Iterator[PodWatch]:
    """Follow the pods that a kubectl writes out while inside, and end it."""
    found = PodWatch()
    assert process.stdout is not None
    thread = threading.Thread(target=found.read, args=(process.stdout,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        process.terminate()
        process.wait()
        thread.join(10)
