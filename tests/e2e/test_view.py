"""The page of a running cluster: what it shows, and to whom."""

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import changing
from tests.support.changing import documents
from tests.support.injected import inject
from tests.support.installed import Installed, taken_port, until
from tests.support.listeners import listeners_of
from tests.support.stranger import Stranger
from tests.support.viewed import ViewedPage, viewed

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]

NODES = 6
FIRST, SECOND = "dgx-h100-000000", "dgx-h100-000001"


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    with_faults.ok("scale", "dgx-h100", "--replicas", str(NODES), "--wait")
    return with_faults


@pytest.fixture(scope="module")
def view(cluster: Installed) -> Iterator[tuple[ViewedPage, "subprocess.Popen[str]"]]:
    with viewed(cluster) as found:
        yield found


@pytest.fixture
def page(view: tuple[ViewedPage, "subprocess.Popen[str]"]) -> ViewedPage:
    return view[0]


def pod(name: str, gpus: int) -> str:
    limits = {"limits": {"nvidia.com/gpu": gpus}}
    spec = {"containers": [{"name": "x", "image": "x", "resources": limits}]}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})


def test_nodes_stand_on_the_map_by_rack_and_components_are_listed(page: ViewedPage) -> None:
    page.until("nodes", lambda p: len(p.states()) == NODES and p.figure("Nodes Ready") == "6")
    groups = {g["name"]: g["nodes"] for g in page.item("fleet-map")["groups"]}
    assert list(groups) == ["dgx-h100-rack-0000", "dgx-h100-rack-0001"]
    assert groups["dgx-h100-rack-0000"][:2] == [FIRST, SECOND]

    page.until("components", lambda p: p.rows("components"))
    rows = {row[0]: row for row in page.rows("components")}
    assert {"etcd", "kube-apiserver", "kwok-controller"} <= rows.keys()
    page.until("CPU and memory", lambda p: all(r[2] and r[3] for r in p.rows("components")))
    page.until("answers", lambda p: any(p.item("api-answers")["series"][0]["values"]))


def test_a_pod_runs_and_one_waits_with_the_reason(cluster: Installed, page: ViewedPage) -> None:
    cluster.apply(*documents(pod("runs", 8)))
    page.until("it runs", lambda p: p.figure("Pods running") == "1")
    page.until("its node is full", lambda p: "full" in p.states().values())
    page.until("its GPUs", lambda p: ["nvidia.com/gpu", "8", "48", "16.7 %"] in p.rows("use"))

    cluster.apply(*documents(pod("waits", 9)))
    page.until(
        "the reason", lambda p: any("Insufficient nvidia" in r[0] for r in p.rows("waiting"))
    )
    (row,) = page.rows("waiting")
    assert (row[1], row[3]) == ("1", "default/waits")

    cluster.delete("pod", "runs", "waits")
    page.until("none waits", lambda p: not p.rows("waiting") and p.figure("Pods running") == "0")
    page.until("none is full", lambda p: set(p.states().values()) == {"idle"})
    names = [each["name"] for each in page.item("pod-rates")["series"]]
    assert names == ["created", "bound", "started", "ended", "deleted"]


def test_nodes_that_need_attention_are_on_the_map_and_listed(
    cluster: Installed, page: ViewedPage
) -> None:
    cluster.cordon(FIRST)
    page.until("it is cordoned", lambda p: p.states().get(FIRST) == "cordoned")
    page.until("it is listed", lambda p: p.rows("trouble"))
    assert page.rows("trouble")[0][:3] == [FIRST, "dgx-h100-rack-0000", "Ready, cordoned"]
    cluster.cordon(FIRST, undo=True)
    page.until("all is well", lambda p: not p.rows("trouble") and p.states()[FIRST] == "idle")


def test_an_open_fault_is_on_its_node_in_a_table_and_a_band(
    cluster: Installed, page: ViewedPage
) -> None:
    inject(cluster, "broken", "xid-79", target={"nodes": [SECOND]})
    page.until("it is on its node", lambda p: p.states()[SECOND] == "open fault")
    page.until(
        "it is listed",
        lambda p: [r[:3] for r in p.rows("faults")] == [["broken", "xid-79", "Landed"]],
    )
    page.until("there is a band", lambda p: p.data["bands"])
    (band,) = page.data["bands"]
    assert (band["name"], band["end"]) == ("broken (xid-79)", None)
    cluster.delete("fault", "broken")
    page.until("it is over", lambda p: not p.rows("faults") and p.data["bands"][0]["end"])
    page.until("its node is well", lambda p: p.states()[SECOND] == "idle")


def test_marks_come_with_the_commands_that_lead_back(cluster: Installed, page: ViewedPage) -> None:
    cluster.ok("snapshot", "mark", "before")
    page.until("the mark", lambda p: [row[0] for row in p.rows("marks")][:1] == ["before"])
    page.until("a moment", lambda p: any(b["name"] == "mark before" for b in p.data["bands"]))
    cluster.create(changing.config_map("later"))
    (line,) = page.item("rewind-1")["lines"]
    program, *words = shlex.split(line)
    assert program == "kwokctl"
    cluster.ok(*words)
    assert "later" not in cluster.names("configmaps")
    (line,) = page.item("fork-1")["lines"]
    assert line.endswith(f"create cluster --from {cluster.name}")
    page.until("nodes are still there", lambda p: len(p.states()) == NODES)


def test_other_users_of_the_machine_see_nothing(
    view: tuple[ViewedPage, "subprocess.Popen[str]"],
) -> None:
    if os.getuid():
        pytest.skip("only root can ask as another user")
    page, process = view
    found = listeners_of([process.pid])
    assert [each.at for each in found] == [f"127.0.0.1:{page.port}"]
    asked = ["GET /", "GET /open", "GET /open/x", f"GET {page.path}", f"GET {page.path}events"]
    asked += ["POST / x", f"HEAD {page.path}"]
    assert Stranger().answered(found, asked) == []
    assert Stranger(token=page.token).answered(found, asked) == []
    words = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    assert page.token.encode() not in words


def test_the_page_says_when_the_cluster_is_stopped_and_goes_on_when_it_runs_again(
    cluster: Installed, page: ViewedPage
) -> None:
    cluster.ok("stop", "cluster")
    page.until("it is said", lambda p: "has not answered" in p.data["verdict"]["text"])
    assert page.data["verdict"]["level"] == "bad"
    cluster.ok("start", "cluster", "--wait")
    cluster.cordon(FIRST)
    page.until("it goes on", lambda p: p.states().get(FIRST) == "cordoned")
    page.until("it answers", lambda p: "has not answered" not in p.data["verdict"]["text"])


def test_ctrl_c_ends_it(view: tuple[ViewedPage, "subprocess.Popen[str]"]) -> None:
    page, process = view
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    page.close()


def test_a_browser_is_opened_by_a_file_that_only_the_user_can_read(
    cluster: Installed, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" >{said}.part && mv {said}.part {said}\n')
    browser.chmod(0o755)
    process = cluster.start("view", "--open", BROWSER=f"{browser} %s")
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip().rpartition(" ")[2]
        until("the browser is opened", said.exists)
        word = said.read_text().strip()
        file = Path(word.removeprefix("file://"))
        assert address not in word
        assert address in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert not file.exists()


def test_a_port_that_is_taken_is_named(cluster: Installed) -> None:
    with taken_port() as port:
        said = cluster.refused("view", "--port", str(port))
    assert f"port {port}" in said
    assert "--port" in said
