"""Changes a cluster in many ways between a mark and a rewind, and compares what etcd holds."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kwokctl import Cluster
from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.etcd.kv.maintenance import defragment
from kwokctl.etcd.marks.present import current_revision
from tests.support.changing import deployment, namespace
from tests.support.installed import Installed
from tests.support.planes import reached


def service(name: str, *, kind: str) -> dict[str, Any]:
    """Return the Service that `kubectl create service` creates with `--tcp=80`."""
    port = {"name": "80", "port": 80, "protocol": "TCP", "targetPort": 80}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"type": kind, "selector": {"app": name}, "ports": [port]},
    }


State = Mapping[bytes, bytes]
"""What a rewind puts back: values by key."""
_TO_THREE = ("--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":3}}')
CHANGES = (
    ("delete", "--wait=false", "crd/widgets.example.com"),
    ("delete", "--wait=false", "namespace/full"),
    ("delete", "--wait=false", "pvc/data", "pv/disk"),
    ("delete", "deployment/web", "job/work", "cronjob/yearly", "hpa/web", "pdb/web"),
    ("delete", "statefulset/store", "daemonset/agent", "rc/old"),
    ("delete", "service/web", "service/port", "ingress/web", "networkpolicy/web"),
    ("delete", "node", "node-000000"),
    ("delete", "--wait=false", "configmap/held"),
    ("delete", "serviceaccount/reader", "role/reader", "rolebinding/reader"),
    ("delete", "clusterrole/part", "clusterrolebinding/gathered", "priorityclass/first"),
    ("delete", "quota/few", "lease/own", "runtimeclass/none", "storageclass/by-hand"),
    ("delete", "apiservice/v1.example.org", "apiservice/v1.example.com", "ingressclass/plain"),
    ("delete", "validatingwebhookconfiguration/nowhere", "podtemplate/usual"),
    ("create", json.dumps(namespace("new"))),
    ("create", json.dumps(deployment("other", 7))),
    ("create", json.dumps(service("other", kind="ClusterIP"))),
    ("create", json.dumps(service("door", kind="NodePort"))),
    ("patch", "statefulset/store", *_TO_THREE),
    ("patch", "deployment/web", *_TO_THREE),
    ("patch", "rc/old", *_TO_THREE),
    ("label", "nodes", "--all", "touched=yes"),
    ("label", "pods,services,rolebindings,cronjobs", "--all", "touched=yes"),
    ("patch", "quota/few", "-p", '{"spec":{"hard":{"pods":"9"}}}'),
    ("patch", "clusterrole/part", "-p", '{"rules":[]}'),
)
"""What happens between a mark and a rewind: something of everything, left half done.

Each is a verb with words of kubectl, or with the object that is created.
"""


def state(cluster: Installed) -> State:
    """Return what is stored, without what a rewind leaves alone."""

    async def read() -> State:
        async with reached(cluster) as there:
            pages = [await there.kv.page(*each) for each in RewindScope("/registry").ranges]
            return {item.key: item.value for page in pages for item in page.items}

    return asyncio.run(read())


def differences(one: State, other: State) -> list[str]:
    return sorted(
        key.decode() for key in one.keys() | other.keys() if one.get(key) != other.get(key)
    )


def resting(cluster: Installed) -> State:
    """Return what is stored when that has been the same for some time."""
    with opened(cluster) as there:
        there.mark("passing", rest=1)
        there.drop("passing")
    return state(cluster)


@contextmanager
def opened(cluster: Installed) -> Iterator[Cluster]:
    """Use a cluster from this program, which saves the start of a command for each step."""
    there = Cluster.open(cluster.name, workdir=cluster.workdir)
    try:
        yield there
    finally:
        there.close()


def disturb(cluster: Installed, changes: Sequence[Sequence[str]] = CHANGES) -> None:
    """Change something, and leave it half done."""
    for words in changes:
        try:
            _change(cluster, *words)
        except AssertionError as e:
            # What an earlier change has removed cannot be changed any more.
            if "not found" not in str(e):
                raise


def _change(cluster: Installed, verb: str, *words: str) -> None:
    if verb == "create":
        cluster.create(*map(json.loads, words))
    elif verb == "delete":
        cluster.delete("--ignore-not-found", *words)
    else:
        {"label": cluster.label, "patch": cluster.patch}[verb](*words)


async def forget_history(cluster: Installed) -> None:
    """Compact etcd, and defragment it."""
    async with reached(cluster) as there:
        await there.kv.compact(await current_revision(there.kv))
        await defragment(there.kv)
