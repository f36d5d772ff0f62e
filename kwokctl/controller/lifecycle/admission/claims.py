"""The resources that a pod takes of its node."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwokctl.controller.lifecycle.admission.ports import HostPorts, ports_of
from kwokctl.controller.lifecycle.admission.requests import Amounts, requests_of


class Claims(NamedTuple):
    """The exclusive resources of a pod: what no other pod of its node can have as well."""

    requests: Amounts
    ports: HostPorts = ()


def claims_of(spec: Mapping[str, Any]) -> Claims:
    """Return what a pod with this spec takes."""
    return Claims(requests_of(spec), ports_of(spec))
