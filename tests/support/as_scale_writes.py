"""Makes pods as `scale` writes them: what their Stages do at once is done to them already."""

from collections.abc import Iterator, Sequence
from random import Random

import msgspec
import orjson

from kwokctl.controller.in_memory.kubelet import ControllerIdentity, InMemoryKubelet
from kwokctl.controller.settings import Settings
from kwokctl.controller.wiring import Controller
from kwokctl.dataplane.bulk.copy_makers import AsCreated, EachPlayed, PlaceNeeds
from kwokctl.dataplane.copies.variable_fields import Copy
from kwokctl.dataplane.scale_protocol import Addresses, AddressRequest
from kwokctl.json_value import Json
from kwokctl.kube.resource import PODS


def as_scale_writes(
    pods: Sequence[Json], controller: Controller, settings: Settings, *, now: str, random: Random
) -> Iterator[Json]:
    """Yield pods that are created at a time, played by themselves, with addresses of the controller."""
    kubelet = InMemoryKubelet(
        "Pod",
        settings.stages,
        selection=settings.selection,
        identity=ControllerIdentity(
            kubelet=settings.kubelet, started=controller.started, manager="kwok"
        ),
        random=random,
    )
    bodies = {pod["metadata"]["name"]: orjson.dumps(pod) for pod in pods}
    created = AsCreated(lambda copy: bodies[copy.name], lambda copy: bodies[copy.name])
    maker = EachPlayed(PODS, kubelet, created, PlaceNeeds.ADDRESSES)
    for serial, pod in enumerate(pods):
        yield orjson.loads(maker.make(_copy(serial, pod, controller, now)))


def _copy(serial: int, pod: Json, controller: Controller, now: str) -> Copy:
    metadata, node = pod["metadata"], pod["spec"]["nodeName"]
    places = controller.scale_api.reserve(msgspec.json.encode(AddressRequest(nodes={node: 1})))
    place = msgspec.json.decode(places, type=dict[str, Addresses])[node]
    hosts = tuple(place.hosts)
    return Copy(
        serial=serial,
        name=metadata["name"],
        uid=metadata["uid"],
        created=now,
        node=node,
        pod_ips=hosts if pod["spec"].get("hostNetwork") else tuple(place.pods[0]),
        host_ips=hosts,
        is_held=place.is_held,
    )
