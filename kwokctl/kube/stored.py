"""Objects as the API server stores them in JSON. Pure."""

import orjson

from kwokctl.json_value import Json


def value_of(document: Json, api_version: str, kind: str) -> bytes:
    """Return an object as kube-apiserver stores it: whole, without its version."""
    metadata = document["metadata"]
    if "resourceVersion" in metadata:
        metadata = {k: v for k, v in metadata.items() if k != "resourceVersion"}
    body = {**document, "apiVersion": api_version, "kind": kind, "metadata": metadata}
    return orjson.dumps(body)
