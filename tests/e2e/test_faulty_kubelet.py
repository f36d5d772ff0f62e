"""Nodes with open faults, as real clients of their kubelets see them: logs and exec, the kernel log, metrics, nvidia-smi."""

import json
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kwokctl.fleet.devices import GPU
from tests.support.fault_surfaces import serve_faults
from tests.support.installed import Installed, end, until

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]

NODE, OTHER = "dgx-h100-000000", "dgx-h100-000001"
HELD = 2
"""GPUs of each pod: the lowest of its node."""
UTILIZATION, XID = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_XID_ERRORS"
CLASSES: dict[str, Any] = {
    "only-lost": {
        "layer": "gpu", "scope": "device",
        "effects": {
            "device": "lost",
            "kernelLog": ["NVRM: Xid (PCI:{{.bus}}): 79, GPU has fallen off the bus."],
        },
    },
    "only-missing": {
        "layer": "gpu", "scope": "device", "effects": {"device": "missing"},
        "signals": {"device-plugin": [{"devices": "missing"}]},
    },
    "only-hang": {
        "layer": "gpu", "scope": "device", "effects": {"workload": {"effect": "hang"}},
    },
    "only-xid": {
        "layer": "gpu", "scope": "device",
        "effects": {
            "kernelLog": ["NVRM: Xid (PCI:{{.bus}}): 63, Row remapping event recorded."],
            "metrics": [
                {"name": "DCGM_FI_DEV_XID_ERRORS", "change": "set", "value": "63"},
                {"name": "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "change": "add", "value": "1"},
            ],
        },
    },
    "unreadable": {
        "layer": "gpu", "scope": "device",
        "effects": {"metrics": [{"name": "DCGM_FI_DEV_(POWER_USAGE|GPU_TEMP)", "change": "gone"}]},
    },
}  # fmt: skip
"""Classes that leave pods as they are, so that what their kubelets answer stands alone."""
Inject = Callable[..., str]


def pod(name: str, node: str) -> dict[str, Any]:
    annotations = {"kwok.x-k8s.io/usage-nvidia.com-gpu": "50%", "kwokctl.dev/life": "kubelet"}
    limits = {"limits": {GPU: str(HELD)}}
    containers = [{"name": "app", "image": "x", "resources": limits}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"nodeName": node, "containers": containers},
    }


@pytest.fixture(scope="module")
def cluster(with_own_faults: Installed) -> Installed:
    cluster = with_own_faults
    cluster.ok("scale", "dgx-h100", "--replicas", "2", "--wait")
    serve_faults(cluster)
    for name, spec in CLASSES.items():
        usual = {
            "summary": "one of a test", "severity": "fatal", "causes": ["hardware"],
            "lifetime": "latched", "clearedBy": ["replace"],
        }  # fmt: skip
        apply(cluster, "FaultClass", name, usual | spec)
    for name, node in (("train", NODE), ("other", OTHER)):
        cluster.create(pod(name, node))
        cluster.wait_for("Ready", f"pod/{name}")
    return cluster


def apply(cluster: Installed, kind: str, name: str, spec: Any) -> None:
    body = {"apiVersion": "kwokctl.dev/v1alpha1", "kind": kind}
    document = {**body, "metadata": {"name": name}, "spec": spec}
    cluster.apply(document)


@pytest.fixture
def inject(cluster: Installed) -> Iterator[Inject]:
    """Return what makes a Fault on the first node; all are deleted afterwards."""

    def create(found: str, gpu: int | None = None) -> str:
        name = f"{found}-1"
        spec = {"class": found, "target": {"nodes": [NODE]}, "dialects": ["device-plugin"]}
        parameters = {} if gpu is None else {"parameters": {"gpu": gpu}}
        apply(cluster, "Fault", name, spec | parameters)
        return name

    yield create
    cluster.delete("faults", "--all")
    until("no fault is open", lambda: "kwokctl.dev/open-faults" not in annotations(cluster))


def annotations(cluster: Installed) -> dict[str, str]:
    found: dict[str, str] = cluster.found("node", NODE)["metadata"]["annotations"]
    return found


def clear(cluster: Installed, name: str) -> None:
    cluster.delete("fault", name)


def raw(cluster: Installed, path: str, node: str = NODE) -> str:
    """Return what the kubelet of a node answers to the API server, or why it does not."""
    try:
        return cluster.raw(f"/api/v1/nodes/{node}/proxy{path}")
    except AssertionError as e:
        return f"failed: {e}"


def page(cluster: Installed, counters: str = "default") -> str:
    return raw(cluster, f"/metrics/nodes/{NODE}/dcgm?counters={counters}")


def value(text: str, name: str, gpu: int) -> float | None:
    found = re.search(rf'^{name}{{gpu="{gpu}",.*}} (\S+)$', text, re.MULTILINE)
    return None if found is None else float(found[1])


def tried(cluster: Installed, *words: str) -> str:
    done = cluster.run("kubectl", *words)
    return done.out + done.err


def is_dead(said: str) -> bool:
    """Return whether a client has found a connection that ended."""
    return any(each in said for each in ("EOF", "connection reset by peer"))


def logs(cluster: Installed, name: str = "train") -> str:
    return tried(cluster, "logs", name, "--tail=1")


def smi(cluster: Installed, *arguments: str) -> str:
    return tried(cluster, "exec", "train", "--", "nvidia-smi", *arguments)


def test_a_silent_kubelet_answers_no_client_until_it_is_cleared(
    cluster: Installed, inject: Inject
) -> None:
    assert logs(cluster).startswith("line ")
    name = inject("silent")
    until("it is silent", lambda: is_dead(logs(cluster)))

    for words in (
        ("exec", "train", "--", "nvidia-smi"),
        ("attach", "train"),
        ("get", "--raw", f"/api/v1/nodes/{NODE}/proxy/logs/kern.log"),
        ("get", "--raw", f"/api/v1/nodes/{NODE}/proxy/stats/summary"),
        ("get", "--raw", f"/api/v1/nodes/{NODE}/proxy/metrics/nodes/{NODE}/dcgm"),
    ):
        assert is_dead(tried(cluster, *words)), words
    assert logs(cluster, "other").startswith("line ")

    clear(cluster, name)
    until("it is back", lambda: logs(cluster).startswith("line "))


def test_what_is_under_way_ends_when_a_kubelet_falls_silent(
    cluster: Installed, inject: Inject
) -> None:
    asked = (("logs", "--follow", "--tail=1", "train"), ("attach", "train"))
    clients = [cluster.start("kubectl", *words) for words in asked]
    try:
        assert clients[0].stdout is not None
        assert clients[0].stdout.readline().startswith("line ")
        assert clients[1].poll() is None
        inject("silent")
        until("they have ended", lambda: all(each.poll() is not None for each in clients))
    finally:
        for each in clients:
            end(each)


def test_a_kubelet_that_is_not_ready_answers(cluster: Installed, inject: Inject) -> None:
    inject("not-ready")
    until("it is open", lambda: "kwokctl.dev/open-faults" in annotations(cluster))
    assert logs(cluster).startswith("line ")
    assert "GPU 1: NVIDIA H100" in smi(cluster, "-L")


def test_an_xid_is_in_the_kernel_log_and_in_the_metrics(cluster: Installed, inject: Inject) -> None:
    assert raw(cluster, "/logs/kern.log") == ""
    name = inject("only-xid", 3)

    until("the kernel has said it", lambda: "NVRM: Xid (PCI:" in raw(cluster, "/logs/kern.log"))
    line = rf"\w{{3}} [ \d]\d \S+ {NODE} kernel: \[ *[\d.]+\] NVRM: Xid \(PCI:0000:.*\): 63, .*\n"
    assert re.fullmatch(line, raw(cluster, "/logs/kern.log"))
    assert ": 63," in raw(cluster, "/logs/?query=kernel&pattern=xid&tailLines=1")
    assert raw(cluster, "/logs/?query=kernel&pattern=nothing") == "-- No entries --\n"
    assert "kern.log" in raw(cluster, "/logs/")
    assert raw(cluster, "/logs/kern.log", OTHER) == ""
    until("the exporter shows it", lambda: value(page(cluster), XID, 3) == 63)
    assert value(page(cluster), "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", 3) == 1
    assert value(page(cluster), XID, 2) == 0

    clear(cluster, name)
    until("the kernel log is empty", lambda: raw(cluster, "/logs/kern.log") == "")
    assert value(page(cluster), XID, 3) == 0


def test_a_lost_gpu_has_no_series_and_no_handle(cluster: Installed, inject: Inject) -> None:
    until("the pod is seen", lambda: value(page(cluster), UTILIZATION, 1) == 50)
    name = inject("only-lost", 1)

    until("its series are gone", lambda: value(page(cluster), UTILIZATION, 1) is None)
    assert value(page(cluster), UTILIZATION, 0) == 50
    done = cluster.run("kubectl", "exec", "train", "--", "nvidia-smi")
    assert done.code == 15
    assert re.match(r"Unable to determine the device handle for GPU 0000:.*GPU is lost", done.out)
    assert smi(cluster, "-i", "0", "--query-gpu=index", "--format=csv,noheader") == "0\n"
    [measured] = json.loads(raw(cluster, "/stats/summary"))["pods"]
    assert len(measured["containers"][0]["accelerators"]) == HELD - 1

    clear(cluster, name)
    until("its series are back", lambda: value(page(cluster), UTILIZATION, 1) == 50)
    assert "GPU 1: NVIDIA H100" in smi(cluster, "-L")


def test_a_missing_gpu_is_on_no_list(cluster: Installed, inject: Inject) -> None:
    until("all devices are counted", lambda: offered(cluster) == 16)
    name = inject("only-missing", 7)
    until("its series are gone", lambda: value(page(cluster), UTILIZATION, 7) is None)
    until("the device is not counted", lambda: offered(cluster) == 15)
    clear(cluster, name)
    until("the device is counted", lambda: offered(cluster) == 16)
    assert value(page(cluster), UTILIZATION, 7) == 0


def offered(cluster: Installed) -> int:
    """Return the number of GPUs that the kubelet server's own metrics say nodes offer."""
    found = re.search(
        rf'^kwok_kubelet_devices{{.*resource="{GPU}",state="allocatable"}} (\d+)',
        raw(cluster, "/metrics"),
        re.MULTILINE,
    )
    return int(found[1]) if found else 0


def test_a_gpu_that_hangs_is_busy_without_work(cluster: Installed, inject: Inject) -> None:
    until("the pod is seen", lambda: value(page(cluster), UTILIZATION, 0) == 50)
    name = inject("only-hang", 0)

    until("it is busy", lambda: value(page(cluster), UTILIZATION, 0) == 100)
    found = page(cluster)
    assert value(found, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 0) == 0
    power = "DCGM_FI_DEV_POWER_USAGE"
    assert value(found, power, 0) == value(found, power, 7)
    assert value(found, UTILIZATION, 1) == 50
    query = ("--query-gpu=utilization.gpu", "--format=csv,noheader")
    assert smi(cluster, *query) == "100 %\n50 %\n"

    clear(cluster, name)
    until("it works again", lambda: value(page(cluster), UTILIZATION, 0) == 50)


def test_a_value_that_cannot_be_read_is_an_error(cluster: Installed, inject: Inject) -> None:
    inject("unreadable", 0)
    until("it cannot be read", lambda: "ERR!" in smi(cluster))
    assert smi(cluster).count("ERR!") == 2
    assert value(page(cluster), "DCGM_FI_DEV_POWER_USAGE", 0) is None


def test_the_kernel_log_needs_the_right_to_logs_of_nodes(
    cluster: Installed, inject: Inject
) -> None:
    inject("only-xid", 3)
    until("the kernel has said it", lambda: "Xid" in raw(cluster, "/logs/kern.log"))
    token = cluster.kubectl("create", "token", "default").strip()
    path = f"/logs/nodes/{NODE}/kern.log"
    assert asked(cluster, path, "") == 401
    assert asked(cluster, path, token) == 403

    cluster.kubectl("create", "clusterrole", "reads", "--verb=get", "--resource=nodes/log")
    who = "--serviceaccount=default:default"
    cluster.kubectl("create", "clusterrolebinding", "reads", "--clusterrole=reads", who)
    until("it may be read", lambda: asked(cluster, path, token) == 200)
    assert asked(cluster, f"/metrics/nodes/{NODE}/dcgm", token) == 403


def asked(cluster: Installed, path: str, token: str) -> int:
    """Return the status of the kubelet server's answer to the holder of a token."""
    authority = next(cluster.folder.rglob("pki/ca.crt"))
    context = ssl.create_default_context(cafile=str(authority))
    port = cluster.found("node", NODE)["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"https://localhost:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, context=context, timeout=60) as found:
            return int(found.status)
    except urllib.error.HTTPError as e:
        with e:
            return e.code
