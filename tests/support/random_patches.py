"""A node and a pod with many lists, and patches at random of what may change in them."""

from random import Random
from typing import Any

from kwokctl.json_value import Json

_TIMES = [f"2024-01-0{day}T00:00:00Z" for day in range(1, 6)]
_TEXTS = ["", "one", "two words", 'a "quote" & <more>', "grün", "\\"]
_CONDITIONS = [
    "Ready",
    "MemoryPressure",
    "example.com/a",
    "example.com/b",
    "example.com/c",
    "Other",
]
_ADDRESSES = {
    "Hostname": ["patched", "other"],
    "InternalIP": ["10.0.0.1", "10.0.0.2"],
    "ExternalIP": ["192.0.2.1", "192.0.2.2"],
    "InternalDNS": ["node.internal"],
    "ExternalDNS": ["node.example.com"],
}
_QUANTITIES = ["1", 2, "1500m", "1Gi", "0.5", "1e3", "12Ki"]
_CONTAINERS = ["first", "second", "third"]

NODE: Json = {
    "metadata": {
        "name": "patched",
        "labels": {"a": "b", "c": "d"},
        "annotations": {"x": "y"},
        "finalizers": ["example.com/a", "example.com/b", "example.com/c"],
    },
    "spec": {"podCIDR": "10.1.0.0/24", "podCIDRs": ["10.1.0.0/24"]},
    "status": {
        "addresses": [
            {"type": kind, "address": _ADDRESSES[kind][0]}
            for kind in ("InternalIP", "ExternalIP", "Hostname")
        ],
        "conditions": [
            {"type": kind, "status": "True", "reason": "r", "lastHeartbeatTime": _TIMES[0]}
            for kind in _CONDITIONS[:4]
        ],
        "capacity": {"cpu": "4", "memory": "8Gi"},
        "allocatable": {"cpu": "4", "memory": "8Gi"},
        "images": [{"names": ["busybox:1"], "sizeBytes": 5}],
        "nodeInfo": {"architecture": "amd64", "kubeletVersion": "kwok"},
    },
}

POD: Json = {
    "metadata": {**NODE["metadata"], "namespace": "default"},
    "spec": {
        "nodeName": "patched",
        "containers": [
            {
                "name": name,
                "image": "busybox",
                "args": ["a", "b"],
                "env": [{"name": variable, "value": "v"} for variable in "ABC"],
                "ports": [{"containerPort": 1000 + port} for port in range(3)],
                "volumeMounts": [
                    {"name": "scratch", "mountPath": "/a"},
                    {"name": "scratch", "mountPath": "/b"},
                ],
            }
            for name in _CONTAINERS[:2]
        ],
        "volumes": [{"name": "scratch", "emptyDir": {}}, {"name": "other", "emptyDir": {}}],
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "imagePullSecrets": [{"name": "a"}, {"name": "b"}],
        "hostAliases": [{"ip": "10.0.0.9", "hostnames": ["a", "b"]}],
    },
}

POD_STATUS: Json = {
    "phase": "Running",
    "conditions": [
        {"type": kind, "status": "True", "lastTransitionTime": _TIMES[0], "reason": "r"}
        for kind in _CONDITIONS[:4]
    ],
    "hostIP": "10.0.0.1",
    "hostIPs": [{"ip": "10.0.0.1"}],
    "podIP": "10.1.0.1",
    "podIPs": [{"ip": "10.1.0.1"}],
    "containerStatuses": [
        {
            "name": name, "image": "busybox", "imageID": "i", "ready": True, "restartCount": 0,
            "state": {"running": {"startedAt": _TIMES[0]}},
        }
        for name in _CONTAINERS[:2]
    ],
}  # fmt: skip


def metadata_patch(random: Random) -> Json:
    """Return a patch of labels, annotations and finalizers."""
    finalizers = [f"example.com/{letter}" for letter in "abcdef"]
    texts = ["one", "a-b", None, None]
    return {
        "metadata": _some(
            random,
            labels={name: random.choice(texts) for name in _subset(random, "abcde")} or None,
            annotations={name: random.choice([*_TEXTS, None]) for name in _subset(random, "xyz")},
            finalizers=_subset(random, finalizers),
        )
    }


def node_status_patch(random: Random) -> Json:
    """Return a patch of a node's status."""
    kinds = _subset(random, _ADDRESSES)
    return {
        "status": _some(
            random,
            addresses=[
                {"type": kind, "address": random.choice(_ADDRESSES[kind])} for kind in kinds
            ],
            conditions=_conditions(random, "lastHeartbeatTime"),
            capacity=_resources(random, [None]),
            allocatable=random.choice([None, _resources(random, [])]),
            images=[{"names": [name]} for name in _subset(random, ["a:1", "b:1"])],
            nodeInfo={"architecture": random.choice(_TEXTS), "bootID": None},
            daemonEndpoints={"kubeletEndpoint": {"Port": random.choice([1, 2])}},
            volumesInUse=_subset(random, "ab"),
            config=random.choice([None, {"error": "e", "active": None}]),
        )
    }


def pod_status_patch(random: Random) -> Json:
    """Return a patch of a pod's status."""
    address = f"10.1.0.{random.randint(1, 3)}"
    return {
        "status": _some(
            random,
            phase=random.choice(["Running", "Pending", "Unknown"]),
            conditions=_conditions(random, "lastTransitionTime"),
            podIP=address,
            podIPs=[{"ip": address}],
            hostIPs=random.choice([None, [{"ip": "10.0.0.1"}]]),
            message=random.choice([*_TEXTS, None]),
            startTime=random.choice([*_TIMES, None]),
            containerStatuses=[
                _container_status(random, name) for name in _subset(random, _CONTAINERS[:2])
            ],
        )
    }


def pod_spec_patch(random: Random) -> Json:
    """Return a patch of the spec of a pod template."""
    return _some(
        random,
        containers=[_container(random, name) for name in _subset(random, _CONTAINERS)],
        tolerations=[{"key": key, "operator": "Exists"} for key in _subset(random, "kl")],
        imagePullSecrets=[{"name": name} for name in _subset(random, "abcd")],
        hostAliases=[
            {"ip": f"10.0.0.{last}", "hostnames": _subset(random, "abc")}
            for last in _subset(random, range(7, 11))
        ],
        volumes=[
            {"name": name, "emptyDir": random.choice([{}, {"medium": "Memory"}])}
            for name in _subset(random, ["scratch", "other", "new", "newer"])
        ],
        nodeSelector=random.choice([None, {"a": "b", "c": None}]),
        securityContext={"runAsUser": random.choice([None, 5]), "supplementalGroups": [2, 1]},
    )


def steps_from(random: Random, current: Json, patch: Json, path: str = "") -> Json:
    """Return a JSON patch that does something like a merge patch."""
    steps: list[Json] = []
    for name, wanted in patch.items():
        pointer = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
        known = current.get(name) if isinstance(current, dict) else None
        if known is None:
            # One step that fails makes the whole patch fail: the others shall be seen, too.
            operation = "add" if random.random() < 0.95 else random.choice(["remove", "replace"])
            if wanted is not None:
                steps.append({"op": operation, "path": pointer, "value": wanted})
        elif wanted is None:
            steps.append({"op": "remove", "path": pointer})
        elif isinstance(wanted, dict) and isinstance(known, dict):
            steps += steps_from(random, known, wanted, pointer)
        elif isinstance(wanted, list) and wanted and isinstance(known, list) and known:
            steps.append(_list_step(random, known, wanted, pointer))
        else:
            steps.append(
                {"op": random.choice(["add", "replace"]), "path": pointer, "value": wanted}
            )
            steps.append({"op": "test", "path": pointer, "value": wanted})
    return steps


def _list_step(random: Random, known: Json, wanted: Json, pointer: str) -> Json:
    index = random.randrange(len(known))
    other = random.choice([str(random.randrange(len(known))), "-"])
    if random.random() < 0.3:
        operation = random.choice(["move", "copy"])
        return {"op": operation, "from": f"{pointer}/{index}", "path": f"{pointer}/{other}"}
    operation = random.choice(["add", "remove", "replace", "test"])
    value = random.choice([wanted[0], known[index]])
    return {"op": operation, "path": f"{pointer}/{index}", "value": value}


def _container(random: Random, name: str) -> Json:
    return {
        "name": name,
        "image": random.choice(["busybox", "other"]),
        **_some(
            random,
            args=_subset(random, "abc"),
            env=[
                {"name": v, "value": random.choice(_TEXTS), "valueFrom": None}
                for v in _subset(random, "ABCDE")
            ],
            ports=[{"containerPort": port} for port in _subset(random, range(1000, 1005))],
            volumeMounts=[
                {"name": "scratch", "mountPath": f"/{path}"} for path in _subset(random, "abcd")
            ],
            resources={"limits": {"cpu": random.choice([*_QUANTITIES, None])}},
            livenessProbe=random.choice([None, {"exec": {"command": ["a"]}, "periodSeconds": 3}]),
            securityContext={"runAsUser": random.choice([None, 5]), "capabilities": None},
        ),
    }


def _container_status(random: Random, name: str) -> Json:
    return {
        "name": name,
        "image": random.choice(["busybox", "other"]),
        "imageID": "",
        "ready": random.choice([True, False]),
        "restartCount": random.randint(0, 3),
        "state": {"running": {"startedAt": random.choice([*_TIMES, None])}},
        **_some(
            random,
            started=random.choice([True, None]),
            lastState=random.choice([None, {"terminated": None}, {"terminated": _ended(random)}]),
            allocatedResources=random.choice([{"cpu": "1"}, {"cpu": None}]),
            user={"linux": random.choice([None, {"uid": 1, "gid": 2, "supplementalGroups": None}])},
            volumeMounts=[{"name": "v", "mountPath": "/a", "recursiveReadOnly": None}],
        ),
    }


def _ended(random: Random) -> Json:
    times = {"startedAt": random.choice([_TIMES[0], None]), "finishedAt": None}
    return {"exitCode": random.choice([3, None]), "reason": None, **times}


def _conditions(random: Random, time: str) -> Json:
    return [
        {
            "type": kind,
            "status": random.choice(["True", "False", "Unknown"]),
            **_some(
                random,
                message=random.choice(_TEXTS),
                **{time: random.choice([*_TIMES, None])},
                **({"lastProbeTime": None} if time == "lastTransitionTime" else {}),
            ),
            **({"reason": None} if random.random() < 0.1 else {}),
        }
        for kind in _subset(random, _CONDITIONS)
    ]


def _resources(random: Random, others: list[None]) -> Json:
    names = _subset(random, ["cpu", "memory", "pods"])
    return {name: random.choice([*_QUANTITIES[:2], *others]) for name in names}


def _some(random: Random, **fields: Json) -> Json:
    """Return some of the fields, in any order."""
    return {name: fields[name] for name in _subset(random, fields)}


def _subset(random: Random, of: Any) -> list[Any]:
    values = list(of)
    return random.sample(values, random.randint(0, len(values)))
