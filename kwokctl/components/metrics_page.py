"""Says how the metrics of a component are collected: from which page, with which credential, and how often."""

from collections.abc import Mapping

import msgspec

from kwokctl.components.setting import Setting
from kwokctl.config.options import ClusterOptions, spellings, value_of, with_values
from kwokctl.embedded.process_metrics import relayed_path
from kwokctl.model import KWOK_KUBELET, PROMETHEUS, ComponentName

SERVER_NAME = "localhost"
"""A name that the certificate of every component has."""


class MetricsPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page in the Prometheus text format."""

    address: str
    """`HOST:PORT`, as the component that asks dials it, or this host."""
    path: str = "/metrics"
    client: str = PROMETHEUS
    """The identity whose certificate is shown there; an empty one is for plain HTTP."""
    is_unverified: bool = False
    """Whether it is TLS, with neither a client's certificate nor one that can be verified."""
    is_discovery: bool = False
    """Whether it has no metrics, but names the pages that have, as HTTP service discovery does:
    https://prometheus.io/docs/prometheus/latest/http_sd/."""


Pages = Mapping[ComponentName, MetricsPage]
"""The pages of metrics of a cluster's components."""


def own_page(name: ComponentName, setting: Setting, dialler: ComponentName | None) -> MetricsPage:
    """Return the page that a component has on its own port."""
    return MetricsPage(address=setting.address(name, dialler=dialler))


def relayed_page(
    name: ComponentName, setting: Setting, dialler: ComponentName | None
) -> MetricsPage:
    """Return the page that the kubelet server has for a component.

    It is there for those whose own page is given only to clients that may do anything else, too.
    """
    address = setting.address(KWOK_KUBELET, dialler=dialler)
    return MetricsPage(address=address, path=relayed_path(name))


SECONDS = 15
_SECONDS_FOR_MANY, _MANY = 60, 5000
_OPTIONS = frozenset({"metrics_server_resolution", "prometheus_interval"})


def settle_rounds(options: ClusterOptions) -> ClusterOptions:
    """Fill in for a new cluster what its user left open."""
    if options.objects.nodes < _MANY:
        return options
    known = [each for each in spellings(options) if each.field in _OPTIONS]
    unset = [each.field for each in known if not value_of(options, each)]
    return with_values(options, dict.fromkeys(unset, _SECONDS_FOR_MANY))
