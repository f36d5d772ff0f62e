"""Reads the usage of a pod or a node from annotations: a value, or a curve in YAML."""

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.kubelet.usage.rules.schema import UsageShape

PREFIX = "kwok.x-k8s.io/usage-"
"""Followed by the name of the resource."""
_USUAL: Mapping[str, UsageShape] = {
    "cpu": UsageShape(value="1m"),
    "memory": UsageShape(value="1Mi"),
}
"""The default usage; metrics-server leaves out pods that use nothing."""


def usual_usage(resource: str) -> UsageShape | None:
    """Return what is used where nothing is said, None of resources that are rarely measured."""
    return _USUAL.get(resource)


def annotated_usage(annotations: Mapping[str, str], resource: str) -> UsageShape | None:
    """Return what an annotation says; raise ValueError if that is no usage."""
    given = annotations.get(PREFIX + resource)
    return None if given is None else _read(given)


@lru_cache(maxsize=4096)
def _read(text: str) -> UsageShape:
    if "{" not in text:
        return UsageShape(value=text)
    try:
        return msgspec.convert(yaml.load(text), UsageShape)
    except (ConfigError, msgspec.ValidationError) as e:
        raise ValueError(f"'{text}' is not a usage: {e}") from e
