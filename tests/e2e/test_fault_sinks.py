"""Signals of faults that go to programs and HTTP end points, with a real cluster and the example that forwards them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.installed import Installed, end, listens, until
from tests.support.ports import free_port

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]

EXAMPLE = Path(__file__).parents[2] / "examples/faults/forward_health_events.py"
NODE = "dgx-h100-000000"


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    with_faults.ok("scale", "dgx-h100", "--replicas", "2", "--wait")
    return with_faults


@contextmanager
def following(cluster: Installed, *sinks: str) -> Iterator["subprocess.Popen[str]"]:
    words = [word for each in sinks for word in ("--sink", each)]
    process = cluster.start("fault", "log", "--follow", "-o", "json", *words)
    try:
        yield process
    finally:
        end(process)


@contextmanager
def forwarding(port: int, file: Path, *words: str) -> Iterator[None]:
    """Run the example, which adds to a file what it forwards."""
    with file.open("a") as out:
        argv = [sys.executable, str(EXAMPLE), "--listen", str(port), *words]
        process = subprocess.Popen(argv, stdout=out)
    try:
        until("the example listens", lambda: listens(port))
        yield
    finally:
        process.kill()
        process.wait()


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def events(file: Path) -> list[dict[str, Any]]:
    return [event for message in read(file) for event in message["events"]]


def inject(cluster: Installed, name: str, *words: str) -> None:
    target = ("--node", NODE, "--id", name, "--seed", "1", "--wait", "3m")
    cluster.ok("fault", "inject", "xid-48", "--set", "gpu=3", *target, *words)


def checks(found: Sequence[dict[str, Any]]) -> list[tuple[str, bool]]:
    return [(each["checkName"], each["isHealthy"]) for each in found]


def both(healthy: bool) -> list[tuple[str, bool]]:
    """Return the checks of XID 48, and of the 154 that follows from it."""
    return [("SysLogsXIDError", healthy)] * 2


def test_the_example_forwards_health_events_also_after_a_restart(
    cluster: Installed, tmp_path: Path
) -> None:
    file, port = tmp_path / "events.jsonl", free_port()
    with following(cluster, f"http://127.0.0.1:{port}/"):
        # Nobody listens yet: what happens meanwhile comes when somebody does.
        inject(cluster, "first", "--dialect", "nvsentinel")
        with forwarding(port, file):
            until("both have come", lambda: checks(events(file)) == both(False))
        cluster.ok("fault", "clear", "first", "--wait", "3m")
        inject(cluster, "second", "--dialect", "nvsentinel")
        wanted = [*both(False), *both(True), *both(False)]
        with forwarding(port, file):
            until("all have come", lambda: checks(events(file)) == wanted)
    cluster.ok("fault", "clear", "second", "--wait", "3m")
    first = events(file)[0]
    assert (first["nodeName"], first["isFatal"]) == (NODE, True)
    assert (first["errorCode"], first["recommendedAction"]) == (["48"], "COMPONENT_RESET")
    kinds = {each["entityType"]: each["entityValue"] for each in first["entitiesImpacted"]}
    assert kinds["GPU"] == "3"
    assert kinds["GPU_UUID"].startswith("GPU-")
    assert kinds["GPU_UUID"] in first["message"]


def test_a_program_gets_each_signal_until_it_takes_it(cluster: Installed, tmp_path: Path) -> None:
    file, marker = tmp_path / "signals.jsonl", tmp_path / "was-here"
    program = tmp_path / "take"
    # The first try fails after the signal was read.
    program.write_text(f"#!/bin/sh\nif test ! -e {marker}; then touch {marker}; exit 3; fi\ncat >>{file}\n")  # fmt: skip
    program.chmod(0o755)
    with following(cluster, f"exec:{program}"):
        inject(cluster, "one", "--dialect", "device-plugin")
        until("it was told", lambda: "signal" in {each["phase"] for each in read(file)})
        cluster.ok("fault", "clear", "one", "--wait", "3m")
        until("the end was told", lambda: "cleared" in {each["phase"] for each in read(file)})
    found = read(file)
    injected, *_, cleared = found
    assert len({each["id"] for each in found}) == len(found)
    assert (injected["phase"], injected["class"], injected["xid"]) == ("injected", "xid-48", 48)
    assert (injected["node"], injected["gpu"], injected["fatal"]) == (NODE, 3, True)
    assert f"Xid (PCI:{injected['pci']}): 48" in injected["kernelLine"]
    assert (cleared["dialect"], cleared["check"]) == ("device-plugin", "device unhealthy")


def test_an_api_server_that_is_started_again_is_waited_for(
    cluster: Installed, tmp_path: Path
) -> None:
    file, program = tmp_path / "signals.jsonl", tmp_path / "take"
    program.write_text(f"#!/bin/sh\ncat >>{file}\n")
    program.chmod(0o755)
    inject(cluster, "before", "--dialect", "device-plugin")
    with following(cluster, f"exec:{program}") as process:
        until("the first is told", lambda: {each["fault"] for each in read(file)} == {"before"})
        pid = cluster.pids()["kube-apiserver"]
        os.kill(pid, signal.SIGKILL)
        cluster.ok("start", "cluster", "--wait", "120s")
        inject(cluster, "after", "--dialect", "device-plugin")
        until("the next is told", lambda: "after" in {each["fault"] for each in read(file)})
        assert process.poll() is None
    assert len({each["id"] for each in read(file)}) == len(read(file))
    cluster.ok("fault", "clear", "--all", "--wait", "3m")


def test_what_cannot_be_a_sink_is_refused(cluster: Installed) -> None:
    log = ("fault", "log", "--follow", "--sink")
    assert "is not there, or cannot be run" in cluster.refused(*log, "exec:/no/such/program")
    for words, said in (
        ((*log, "ftp://x"), "neither exec: nor a URL"),
        (("fault", "log", "--sink", "http://x"), "'--sink' needs '--follow'"),
    ):
        done = cluster.run(*words)
        assert done.code == 2
        assert said in done.err
