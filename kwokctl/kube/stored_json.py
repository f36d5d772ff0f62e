"""Objects as the API server stores them in JSON. Pure."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import orjson

from kwokctl.json_value import Json


class MetadataInJson(TypedDict, total=False):
    """The metadata that writers read."""

    name: str
    namespace: str
    uid: str
    resourceVersion: str
    creationTimestamp: str
    deletionTimestamp: str
    deletionGracePeriodSeconds: int
    generation: int
    labels: dict[str, str]
    annotations: dict[str, str]
    finalizers: list[str]
    managedFields: Sequence[Json]


class ObjectInJson(TypedDict, total=False):
    """The fields that writers read of an object on its way to etcd.

    It is a dictionary with whatever the API server has given it. A Struct would drop the fields that it
    does not name, and writing it would delete them.
    """

    apiVersion: str
    kind: str
    metadata: MetadataInJson
    spec: Json
    status: Json


def value_of(document: ObjectInJson, api_version: str, kind: str) -> bytes:
    """Return an object as kube-apiserver stores it: whole, without its version."""
    metadata: Mapping[str, object] = document["metadata"]
    if "resourceVersion" in metadata:
        metadata = {k: v for k, v in metadata.items() if k != "resourceVersion"}
    body = {**document, "apiVersion": api_version, "kind": kind, "metadata": metadata}
    return orjson.dumps(body)
