"""Copies of real objects, put straight into etcd, are to the API server what they should be."""

import base64
import dataclasses
import json
import subprocess
from dataclasses import dataclass
from time import time

import pytest
from msgspec import structs

from kwokctl.clusters.scaling.objects.object_pattern import Pattern
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.resource_templates import ResourceTemplate, load_templates
from kwokctl.dataplane.copies.json_stamp import Copy, Stamp, stamp_of
from kwokctl.dataplane.copies.protobuf_stamp import protobuf_stamp
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.resource import Resource
from tests.support.changing import documents
from tests.support.client_writes import patch
from tests.support.direct import ask, encoded
from tests.support.installed import Installed, command

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ Name }}, annotations: {about: {{ Quote (printf "\\"%s\\" ü" Name) }}}}
spec:
  replicas: 2
  selector: {matchLabels: {app: {{ Name }}}}
  template:
    metadata: {labels: {app: {{ Name }}}}
    spec: {containers: [{name: web, image: nginx, env: [{name: NUMBER, value: {{ Quote Index }}}]}]}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: {{ Name }}}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: sum, image: busybox}]}
"""
WIDGET = """\
apiVersion: example.com/v1
kind: Widget
metadata: {name: {{ Name }}}
spec: {size: {{ Index }}, host: {{ Name }}.example.com, startTime: {{ Quote Now }}}
"""
WIDGETS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
MINE = {"deployment": DEPLOYMENT, "job": JOB, "widget": WIDGET}

LATER = Copy(
    serial=300,
    name="",
    uid="0b4ac2f0-0000-4000-8000-5ba2f8a5d670",
    created="2031-05-06T07:08:09Z",
    node="node-of-another-length",
    pod_ips=("10.100.200.101", "fd00:1:2:3::4444"),
    host_ips=("192.0.2.199", "2001:db8::ffff"),
)
LONG_NAME = "p" * 63


@dataclass(frozen=True, slots=True)
class Sample:
    """Two real objects of a kind, and what is in etcd for the first."""

    resource: Resource
    namespace: str | None
    first: Json
    second: Json
    value: bytes
    pattern: Pattern

    @property
    def key(self) -> str:
        name = self.first["metadata"]["name"]
        return Keys("/registry").key(self.resource, self.namespace, name).decode()

    def stamp(self) -> Stamp:
        copies = (_copy_of(0, self.first), _copy_of(1, self.second))
        return stamp_of(self.first, self.second, *copies, self.pattern.varying)


@pytest.fixture(scope="module")
def cluster(storage: Installed) -> Installed:
    storage.create(*documents(WIDGETS))
    storage.wait_for("Established", "crd/widgets.example.com")
    return storage


@pytest.mark.parametrize("kind", ["node", "pod", "deployment", "job", "widget"])
def test_copies_are_shown_as_they_were_made(cluster: Installed, kind: str) -> None:
    sample = _sample(cluster, kind)
    stamp = sample.stamp()
    name = sample.first["metadata"]["name"]
    in_json = structs.replace(LATER, name=f"{name}-in-json")
    _put(cluster, sample.key.replace(name, in_json.name), stamp.make(in_json))

    assert _shown(cluster, sample, in_json.name) == json.loads(stamp.make(in_json))

    smaller = protobuf_stamp(sample.value, stamp)
    if kind == "widget":
        assert smaller is None
    else:
        assert smaller is not None
        in_protobuf = structs.replace(LATER, name=LONG_NAME)
        _put(cluster, sample.key.replace(name, in_protobuf.name), smaller.make(in_protobuf))
        shown = _shown(cluster, sample, in_protobuf.name)
        assert shown == json.loads(stamp.make(in_protobuf))
        assert len(smaller.make(in_protobuf)) < 0.8 * len(stamp.make(in_protobuf))

    names = {each["metadata"]["name"] for each in cluster.objects(sample.resource.plural)}
    assert {in_json.name, *([LONG_NAME] if smaller else [])} < names
    cluster.label(sample.resource.plural, "--all", "seen=true")
    cluster.delete(sample.resource.plural, "--all", "--force")


def _sample(cluster: Installed, kind: str) -> Sample:
    """Create two objects of a kind."""
    templates = {
        name: ResourceTemplate(name=name, parameters={}, template=template, source="here")
        for name, template in MINE.items()
    }
    parameters = ('.nodeName = "n" | .hostNetwork = false',) if kind == "pod" else ()
    request = ScaleRequest(kind=kind, params=parameters, replicas=1000)
    renderer = Renderer((dict(load_templates([])) | templates)[kind], request, time)
    pattern = renderer.pattern()
    assert pattern is not None

    async def create(client: Client) -> tuple[Resource, list[Json]]:
        first = renderer.stamp(0)
        resource = await client.resource_for(first["apiVersion"], first["kind"])
        namespace = "default" if resource.namespaced else None
        made = []
        for serial in (0, 1):
            body = renderer.stamp(serial)
            name = body["metadata"]["name"]
            await client.create(resource, namespace, encoded(body))
            if kind == "pod":
                status = encoded({"status": _running(serial)})
                await patch(
                    client, resource, namespace, name, status, PatchType.MERGE, subresource="status"
                )
            made.append(await client.get(resource, namespace, name))
        return resource, made

    resource, (first, second) = ask(cluster, create)
    namespace = "default" if resource.namespaced else None
    sample = Sample(resource, namespace, first, second, b"", pattern)
    found = json.loads(cluster.ok("etcdctl", "get", sample.key, "-w", "json"))
    return dataclasses.replace(sample, value=base64.b64decode(found["kvs"][0]["value"]))


def _running(serial: int) -> Json:
    now = f"2026-11-21T10:0{serial}:35Z"
    return {
        "phase": "Running",
        "startTime": now,
        "podIP": f"10.0.1.{serial}",
        "podIPs": [{"ip": f"10.0.1.{serial}"}, {"ip": f"fd00::{serial}"}],
        "hostIP": f"192.0.2.{serial}",
        "hostIPs": [{"ip": f"192.0.2.{serial}"}, {"ip": f"2001:db8::{serial}"}],
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": now}],
    }


def _copy_of(serial: int, real: Json) -> Copy:
    metadata, status = real["metadata"], real.get("status", {})
    return Copy(
        serial=serial,
        name=metadata["name"],
        uid=metadata["uid"],
        created=metadata["creationTimestamp"],
        node=real["spec"].get("nodeName", ""),
        pod_ips=tuple(each["ip"] for each in status.get("podIPs", ())),
        host_ips=tuple(each["ip"] for each in status.get("hostIPs", ())),
    )


def _put(cluster: Installed, key: str, value: bytes) -> None:
    subprocess.run(
        [*command(), "--name", cluster.name, "etcdctl", "put", key],
        env=cluster.environment,
        input=value,
        check=True,
        timeout=180,
        stdout=subprocess.DEVNULL,
    )


def _shown(cluster: Installed, sample: Sample, name: str) -> Json:
    async def get(client: Client) -> Json:
        return await client.get(sample.resource, sample.namespace, name)

    shown = ask(cluster, get)
    assert shown["metadata"].pop("resourceVersion")
    return shown
