"""The functions of templates without a controller: examples, or stubs that return the call."""

import json
from collections.abc import Callable

from kwokctl.controller.nodes.address_pool import PodIPs
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.stages.stage_functions import Kubelet, common, for_pods
from kwokctl.expr.duration import parse_time
from kwokctl.expr.gotemplate.functions.random import RANDOM
from kwokctl.expr.gotemplate.template import Functions

_TEXTS = (
    "Now",
    "Version",
    "StartTime",
    "NodeIP",
    "NodeName",
    "KubeletAddress",
    "NodePort",
    "PodIP",
    "NodeIPWith",
    "PodIPWith",
    *RANDOM,
)
_LISTS = ("KubeletFeatures", "NodeIPsWith", "PodIPsWith")
_EXAMPLE = Kubelet(ip="192.0.2.1", name="node.example", port=10250, address="127.0.0.1")
"""Addresses of https://www.rfc-editor.org/rfc/rfc5737."""
_CIDR = "10.0.0.0/24"
TEST_TIME = parse_time("2026-01-01T00:00:00Z")
"""The time at which tests take place."""


def example_functions(wall: Callable[[], float]) -> Functions:
    """Return functions that give the time now, and addresses as examples."""
    addresses = PodIPs(NodeRegistry(), default_cidr=_CIDR, node_ip=_EXAMPLE.ip)
    own = addresses.of_pod("the pod that is played", "", host_network=False)[0]
    return {**for_pods(common(wall), _EXAMPLE, addresses), "PodIP": lambda: own}


def stub_functions() -> Functions:
    """Return functions of time, address and chance that give their own call, as the original's tests do.

    The other functions are deterministic, and are kept. `now` and `ago` calculate: for them it is
    the time of tests.
    """
    stubs = {name: _text_stub(name) for name in _TEXTS} | {
        name: _list_stub(name) for name in _LISTS
    }
    return {**example_functions(lambda: TEST_TIME), **stubs, "now": lambda: TEST_TIME}


def _text_stub(name: str) -> Callable[..., str]:
    return lambda *words: f"<{_call(name, words)}>"


def _list_stub(name: str) -> Callable[..., list[str]]:
    return lambda *words: [f"<{number} of {_call(name, words)}>" for number in (0, 1)]


def _call(name: str, words: tuple[object, ...]) -> str:
    arguments = ", ".join(json.dumps(word, ensure_ascii=False) for word in words)
    return f"{name}({arguments})" if words else name
