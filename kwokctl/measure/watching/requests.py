"""The requests of a pod, with which pods of one size are found."""

from functools import lru_cache
from typing import TypedDict

import msgspec

from kwokctl.kube.pod_requests import requests_of
from kwokctl.measure.record.amounts import text_of

Quantities = dict[str, str | int]


class Resources(TypedDict, total=False):
    """The requests of a container, or of a pod as a whole."""

    requests: Quantities | None


class RequestingContainer(TypedDict, total=False):
    """The fields of a container that say what it requests, and when."""

    resources: Resources | None
    restartPolicy: str | None


class RequestingSpec(TypedDict, total=False):
    """The fields of a pod's spec that say what it requests."""

    containers: list[RequestingContainer] | None
    initContainers: list[RequestingContainer] | None
    resources: Resources | None
    overhead: Quantities | None


class _RequestingPod(msgspec.Struct, gc=False):
    spec: RequestingSpec = {}


_pod = msgspec.json.Decoder(_RequestingPod).decode


def requests_in(raw: bytes) -> str:
    """Return what a pod requests, of its JSON."""
    return text_of_requests(_pod(raw).spec)


def text_of_requests(spec: RequestingSpec) -> str:
    """Return what the scheduler counts of a pod, such as `cpu=1,memory=1Gi`; empty without requests."""
    return _text(msgspec.json.encode(spec))


@lru_cache(maxsize=1024)
def _text(spec: bytes) -> str:
    return text_of(requests_of(msgspec.json.decode(spec)))
