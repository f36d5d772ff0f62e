"""What every client may ask of each component, as the page about security has it, and what to try."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from tests.support.installed import Installed
from tests.support.listeners import listeners_of
from tests.support.places import Place
from tests.support.stranger import Stranger

_PAGE = Path(__file__).parents[2] / "docs/explanation/security.md"
_TABLE = re.compile(r"^\| component \| paths \|\n\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE)

REQUESTS = (
    "GET /", "GET /healthz", "GET /livez", "GET /readyz", "GET /health", "GET /version",
    "GET /metrics", "GET /configz", "GET /flagz", "GET /statusz", "GET /debug/pprof/",
    "GET /debug/vars", "GET /logs/", "GET /pods", "GET /api", "GET /api/v1/namespaces",
    "GET /apis", "GET /openapi/v2", "GET /members", "GET /raft/probing", "POST /raft {}",
    'POST /v3/kv/range {"key":"AA=="}', "GET /seen", "GET /kubelet",
    "GET /containerLogs/default/pod/c", "POST /exec/default/pod/c", "GET /stats/summary",
    'POST /pod-addresses {"nodes":{}}', "GET /api/v1/targets", "GET /-/ready", "GET /graph",
    "GET /metrics/components/etcd",
)  # fmt: skip
"""What another user may try: a little of all that Kubernetes, etcd, Prometheus and the controller serve."""
DISCOVERY = frozenset({"GET /api", "GET /apis", "GET /openapi/v2"})
"""What the API server answers to every user that it knows."""
_ETCD_OF_KUBEADM = frozenset({"GET /metrics", "GET /health", "GET /livez", "GET /readyz"})
"""What etcd answers on the loopback address of kind's node, for the node's kubelet."""


def answered(cluster: Installed, stranger: Stranger) -> dict[str, set[str]]:
    """Try everything at each listener of a cluster; return what was answered, by component."""
    programs = {pid: _program(words) for pid, words in cluster.processes().items()}
    listeners = listeners_of(programs)
    assert [each for each in listeners if each.is_abstract] == []
    found: dict[str, set[str]] = {programs[each.pid]: set() for each in listeners}
    for listener, request in stranger.answered(listeners, REQUESTS):
        found[programs[listener.pid]].add(request)
    return found


def open_to_all(place: Place, components: Collection[str]) -> dict[str, frozenset[str]]:
    """Return what these components are to answer to every client in a place."""
    found = open_paths()
    kubeadm = {"etcd": _ETCD_OF_KUBEADM} if place.has_node else {}
    return {name: found[name] for name in components} | kubeadm


def _program(words: str) -> str:
    """Return which component a process is; the embedded ones are Python's."""
    name = Path(words.split(maxsplit=1)[0]).name
    if not name.startswith("python"):
        return name
    modules = {"kwokctl.kubelet": "kwok-kubelet", "kwokctl.api_proxy": "kwok-api-proxy"}
    return next((name for module, name in modules.items() if module in words), "kwok-controller")


def open_paths() -> Mapping[str, frozenset[str]]:
    """Return the requests of the table, by component."""
    found = _TABLE.search(_PAGE.read_text())
    assert found is not None
    rows = (row.strip("|").split("|") for row in found[1].splitlines())
    return {
        component.strip().partition(",")[0]: frozenset(
            f"GET {path}" for path in re.findall(r"`([^`]+)`", paths)
        )
        for component, paths in rows
    }
