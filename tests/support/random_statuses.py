"""Patches of statuses at random, some of which an API server refuses or completes, and objects for them."""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.statuses.decodable import TYPES
from tests.support.random_shapes import random_object

_AMOUNTS: list[Json] = [
    "1", "2", 3, "0", "0.5", 0.5, "1500m", "2000m", "1e3", "1Gi", "0.5Ki", "-1", "-0", "1n", "999999999n",
    "9E", "9Ei", "9e15", "1e18", "1e40", "10P", "1e-9", "0.999999999", "0.9999999999", "1u",
]  # fmt: skip
_RESOURCES = [
    "cpu", "memory", "pods", "nvidia.com/gpu", "example.com/a", "ephemeral-storage", "hugepages-2Mi",
    "kubernetes.io/batch", "x.kubernetes.io/y", "requests.nvidia.com/gpu", "services", "secrets",
    "no/valid/name", "/", "UPPER.example.com/A_b", "two words", "two/wo rds", "attachable-volumes-x",
]  # fmt: skip
_CONDITIONS = [
    "Ready", "PodScheduled", "Initialized", "ContainersReady", "example.com/gate", "", "two words", "a/b/c",
    "x" * 63, "x" * 64, "-a", "example.com/", "Example.com/a", "a_b.c", "ä",
]  # fmt: skip
_ADDRESSES = [
    "10.0.0.1", "10.0.0.2", "192.0.2.1", "fd00::1", "fd00::2", "FD00::1", "fd00:0:0::1", "", "10.0.0.256",
    "010.0.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", "nowhere", "10.0.0.0/8", "::", "0.0.0.0",
]  # fmt: skip
_FEATURES = ["A", "B", "Ab/c", "Guaranteed1", "a", "A-b", "A/", "A//b", "", "X" * 253, "X" * 254]
_NAMES = ["first", "second", "side", "setup", "debug", "other", ""]
_TIMES = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00.5Z", None]
_GENERATIONS = [0, 1, 2, -1, None]
_POLICIES: Mapping[str, list[Json]] = {
    "Always": [None, "Never", "OnFailure"],
    "OnFailure": [None, "Always"],
    "Never": [None, "Always", "OnFailure"],
}
"""Restart policies of pods, with some of their containers."""


def node(name: str, _random: Random) -> Json:
    """Return a node with a status."""
    amounts = {"cpu": "4", "nvidia.com/gpu": "8"}
    status = {"capacity": amounts, "allocatable": amounts}
    return {"metadata": {"name": name}, "status": status}


def pod(name: str, random: Random) -> Json:
    """Return a pod with containers of all kinds."""
    policy = random.choice(list(_POLICIES))
    own = random.choice(_POLICIES[policy])
    requests = {"requests": {"cpu": "1", "example.com/a": "1"}, "limits": {"example.com/a": "1"}}
    second = {"name": "second", "image": "i"} | ({"restartPolicy": own} if own else {})
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "nodeName": "twin",
            "restartPolicy": policy,
            "containers": [{"name": "first", "image": "i", "resources": requests}, second],
            "initContainers": [
                {"name": "side", "image": "i", "restartPolicy": "Always"},
                {"name": "setup", "image": "i"},
            ],
        },
    }


def status_patch(resource: Resource, random: Random) -> tuple[PatchType, Json]:
    """Return a patch of a status, and its type."""
    draw = random.random()
    if draw < 0.05:
        return PatchType.MERGE, {"status": None}
    status = _status(resource, random)
    if draw < 0.15:
        return PatchType.JSON, [{"op": "replace", "path": "/status", "value": status}]
    return random.choice([PatchType.MERGE, PatchType.STRATEGIC]), {"status": status}


def _status(resource: Resource, random: Random) -> dict[str, Json]:
    """Return some parts of a status: mostly made for the rules, and some of any other value."""
    makers = _NODE if resource == NODES else _POD
    chosen = random.sample(list(makers), random.choice([1, 1, 1, 2]))
    status = {part: made for name in chosen for part, made in makers[name](random).items()}
    if random.random() < 0.2:
        status |= _any_part(resource, random)
    return status


def _any_part(resource: Resource, random: Random) -> dict[str, Json]:
    made = random_object(random, TYPES, f"{resource.kind}Status")
    part = random.choice(list(made))
    return {part: _one_of_a_name(made[part])}


def _one_of_a_name(value: Json) -> Json:
    """Leave one element of each name: an API server takes two of which one has ended, and nothing after that."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return value
    named = {each["name"]: each for each in value if each.get("name")}
    return [each for each in value if not each.get("name") or named[each["name"]] is each]


def _amounts(random: Random) -> Json:
    if random.random() < 0.1:
        return random.choice([None, {}])
    return {name: random.choice(_AMOUNTS) for name in _some(random, _RESOURCES, 2)}


def _node_addresses(random: Random) -> dict[str, Json]:
    kinds = ["Hostname", "InternalIP", "ExternalIP", "Hostname", "InternalDNS"]
    addresses = [
        {"type": kind, "address": random.choice(_ADDRESSES[:4])} for kind in _some(random, kinds, 3)
    ]
    return {"addresses": addresses}


def _config(random: Random) -> dict[str, Json]:
    source = {
        name: random.choice(["", "a", "B"])
        for name in _some(
            random, ["name", "namespace", "uid", "resourceVersion", "kubeletConfigKey"], 5
        )
    }
    return {
        "config": random.choice(
            [None, {"error": "e"}, {"active": {"configMap": source}}, {"active": {}}]
        )
    }


_NODE: Mapping[str, Callable[[Random], dict[str, Json]]] = {
    "capacity": lambda random: {"capacity": _amounts(random)},
    "allocatable": lambda random: {"allocatable": _amounts(random)},
    "both": lambda random: {"capacity": _amounts(random), "allocatable": _amounts(random)},
    "addresses": _node_addresses,
    "features": lambda random: {"declaredFeatures": _some(random, _FEATURES, 3)},
    "sorted features": lambda random: {"declaredFeatures": sorted(_some(random, _FEATURES[:4], 3))},
    "config": _config,
    "conditions": lambda random: {"conditions": _node_conditions(random)},
    "swap": lambda random: {"nodeInfo": {"swap": {"capacity": random.choice([0, 5, -5])}}},
    "volumes": lambda random: {
        "volumesAttached": [{"name": "a", "devicePath": random.choice(["", "/dev/a"])}],
        "volumesInUse": _some(random, ["a", "a", "b"], 3),
    },
    "ports": lambda random: {"daemonEndpoints": {"kubeletEndpoint": {"Port": random.choice([0, -1, 70000])}}},
    "handlers": lambda random: {
        "runtimeHandlers": [{"name": random.choice(["", "a"]), "features": {"userNamespaces": True}}],
        "features": random.choice([None, {"supplementalGroupsPolicy": True}]),
    },
    "images": lambda random: {"images": [{"names": _some(random, ["a", "", "a"], 2), "sizeBytes": -1}]},
    "phase": lambda random: {"phase": random.choice(["", "Running", "Odd"])},
}  # fmt: skip


def _node_conditions(random: Random) -> Json:
    return [{"type": kind, "status": random.choice(["True", "maybe", ""])} for kind in _some(random, _CONDITIONS, 2)]  # fmt: skip


def _pod_conditions(random: Random) -> dict[str, Json]:
    good = _CONDITIONS[:5]
    kinds = [
        random.choice(good if random.random() < 0.85 else _CONDITIONS)
        for _ in range(random.randint(0, 3))
    ]
    return {
        "conditions": [
            {"type": kind, "status": random.choice(["True", "False"]), "lastTransitionTime": random.choice(_TIMES)}
            | _generation(random)
            for kind in kinds
        ]
    }  # fmt: skip


def _generation(random: Random) -> dict[str, Json]:
    if random.random() < 0.6:
        return {}
    return {"observedGeneration": random.choice(_GENERATIONS)}


def _pod_addresses(one: str) -> Callable[[Random], dict[str, Json]]:
    def made(random: Random) -> dict[str, Json]:
        pool = _ADDRESSES[:5] if random.random() < 0.8 else _ADDRESSES
        listed = _some(random, pool, 2)
        alone = listed[0] if listed and random.random() < 0.7 else random.choice(["", *pool])
        both = {one: alone, f"{one}s": [{"ip": each} for each in listed]}
        return {name: both[name] for name in _some(random, list(both), 2) or list(both)}

    return made


def _containers(part: str) -> Callable[[Random], dict[str, Json]]:
    def made(random: Random) -> dict[str, Json]:
        return {part: [_container(random, name) for name in _some(random, _NAMES, 4)]}

    return made


def _container(random: Random, name: str) -> Json:
    ended = {"terminated": {"exitCode": random.choice([0, 0, 1, None])}}
    running = {"running": {"startedAt": random.choice(_TIMES)}}
    status = {
        "name": name,
        "image": "i",
        "ready": random.choice([True, False]),
        "restartCount": random.choice([0, 1, -1]),
        "state": random.choice([ended, ended, running, running, {"waiting": {}}, {}, None, {**ended, **running}]),
    }  # fmt: skip
    if random.random() < 0.15:
        status |= random.choice(
            [
                {"user": {"linux": {"uid": random.choice([0, -1, 2**31]), "gid": 0}}},
                {
                    "allocatedResourcesStatus": [
                        {"name": random.choice(["cpu", "other", "claim:x"])}
                    ]
                },
                {"allocatedResources": {"cpu": random.choice(_AMOUNTS)}},
                {"resources": {"limits": {"cpu": random.choice(_AMOUNTS)}}},
                {"volumeMounts": [{"name": "a", "mountPath": "/a"}]},
                {"volumeMounts": [{"name": "a", "mountPath": "/a", "volumeStatus": {"image": {}}}]},
                {"stopSignal": random.choice(["SIGTERM", "odd"])},
            ]
        )
    return status


def _quality(random: Random) -> dict[str, Json]:
    return {"qosClass": random.choice([None, "", "Burstable", "BestEffort", "Odd"])}


_POD: Mapping[str, Callable[[Random], dict[str, Json]]] = {
    "conditions": _pod_conditions,
    "pod addresses": _pod_addresses("podIP"),
    "host addresses": _pod_addresses("hostIP"),
    "containers": _containers("containerStatuses"),
    "more containers": _containers("containerStatuses"),
    "init containers": _containers("initContainerStatuses"),
    "ephemeral containers": _containers("ephemeralContainerStatuses"),
    "quality": _quality,
    "generation": lambda random: {"observedGeneration": random.choice(_GENERATIONS)},
    "nominated": lambda random: {"nominatedNodeName": random.choice(["", None, "a", "A b"])},
    "claims": lambda random: {
        "resourceClaimStatuses": [{"name": random.choice(["a", ""]), "resourceClaimName": "x"}]
    },
    "pod resources": lambda random: {"resources": {"requests": {"cpu": random.choice(_AMOUNTS)}}},
    "phase": lambda random: {
        "phase": random.choice(["Pending", "Running", "Failed", "Odd", ""]),
        "reason": random.choice(["", "r", None]),
        "message": random.choice(["", "m", None]),
        "startTime": random.choice(_TIMES),
        "resize": random.choice(["", "Proposed", "odd"]),
    },
}


def _some(random: Random, values: Sequence[str], most: int) -> list[str]:
    """Return a few of some values."""
    return random.sample(values, random.randint(0, min(most, len(values))))


MAKERS: Mapping[Resource, Callable[[str, Random], Json]] = {NODES: node, PODS: pod}
"""What makes an object of each kind."""
