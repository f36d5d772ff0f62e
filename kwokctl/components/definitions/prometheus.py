"""Describes Prometheus, which collects the metrics of all components and of all fake nodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kwokctl import assets
from kwokctl.artifacts.versions import DEFAULT_PROMETHEUS_VERSION, prometheus_version
from kwokctl.components import identities
from kwokctl.components.definition import Definition
from kwokctl.components.flags import flags
from kwokctl.components.metrics.metrics_page import MetricsPage, Pages
from kwokctl.components.metrics.rounds import SECONDS
from kwokctl.components.metrics.scrape_config import CLIENT, scraping
from kwokctl.components.setting import Setting
from kwokctl.config import version_checks
from kwokctl.config.declaring import (
    COMPONENTS,
    ComponentOptions,
    binary_option,
    binary_prefix_option,
    image_option,
    image_prefix_option,
    option,
    port_option,
    version_option,
)
from kwokctl.config.options import ClusterOptions
from kwokctl.expr import yaml
from kwokctl.host.ports import joined
from kwokctl.json_value import Json
from kwokctl.model import (
    KUBE_APISERVER,
    PROMETHEUS,
    Component,
    ComponentName,
    HttpProbe,
    Identity,
    Mount,
    Port,
)

_USER = "kwokctl:prometheus"
_OBJECTS = "components/prometheus.yaml"
_DASHBOARD = "dashboards/kwok.json"
_AUTHORITY = "prometheus-ca"
"""Signs the certificate of its clients alone: any user of the cluster has one of the other authority."""
_KEPT = "4GB"
"""The size at which it drops what is oldest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusOptions(ComponentOptions):
    """The options of Prometheus."""

    component: ClassVar = PROMETHEUS

    port: int = port_option("Prometheus; a port adds it to the cluster")
    version: str = version_option(
        "Prometheus", DEFAULT_PROMETHEUS_VERSION, version_checks.prometheus
    )
    interval: int = option(
        0,
        "Seconds between two scrapes of Prometheus [default: 15, and 60 for 5,000 nodes or more]",
        group=COMPONENTS,
        metavar="SECONDS",
        within=(0, 3600),
        original=15,
    )
    tls: bool = option(
        True,
        "Require a client certificate on Prometheus' port; off for browsers, and tools that expect "
        "the original's plain one",
        group=COMPONENTS,
        key="prometheusTLS",
        original=False,
    )
    binary: str = binary_option("Prometheus")
    image: str = image_option("Prometheus")
    binary_prefix: str = binary_prefix_option("Prometheus")
    image_prefix: str = image_prefix_option("Prometheus")


def prometheus(setting: Setting) -> Component:
    """Describe Prometheus."""
    own, paths = setting.options.of(PrometheusOptions), setting.paths
    scheme = "https" if own.tls else "http"
    url = f"{scheme}://{setting.address(PROMETHEUS)}"
    inside = setting.site.port(PROMETHEUS, own.port)
    return Component(
        name=PROMETHEUS,
        artifact=setting.artifacts[PROMETHEUS],
        args=_arguments(setting, inside),
        ports=(Port(name=scheme, port=inside, host_port=own.port),),
        mounts=_mounts(setting),
        ready=(_page(setting, f"{url}/-/ready"),),
        after=frozenset({KUBE_APISERVER}),
        uses=frozenset({KUBE_APISERVER}),
        objects=_objects(),
        files={
            paths.dashboard: assets.text(_DASHBOARD),
            **({paths.prometheus_web: _web(setting)} if own.tls else {}),
        },
        url=url,
    )


def _arguments(setting: Setting, port: int) -> tuple[str, ...]:
    paths, at = setting.paths, setting.site.path
    is_tls = setting.options.of(PrometheusOptions).tls
    return flags(
        {
            "config.file": str(at(paths.prometheus_config)),
            "web.listen-address": joined(setting.bind(PROMETHEUS), port),
            "web.config.file": str(at(paths.prometheus_web)) if is_tls else None,
            "storage.tsdb.path": str(at(paths.prometheus_data)),
            "storage.tsdb.retention.size": _KEPT,
        },
        setting.user_args(PROMETHEUS),
    )


def _collect(setting: Setting, pages: Pages) -> Mapping[Path, str]:
    seconds = setting.options.of(PrometheusOptions).interval or SECONDS
    return {setting.paths.prometheus_config: scraping(setting, pages, seconds)}


def _page(setting: Setting, url: str) -> HttpProbe:
    """Describe how this host gets a page of it."""
    pki = setting.paths.pki
    if not setting.options.of(PrometheusOptions).tls:
        return HttpProbe(url=url)
    return HttpProbe(
        url=url, ca=pki / "ca.crt", cert=pki / f"{CLIENT}.crt", key=pki / f"{CLIENT}.key"
    )


def _mounts(setting: Setting) -> tuple[Mount, ...]:
    """Show it no keys but its own."""
    paths = setting.paths
    own = [f"{name}.{kind}" for name in (PROMETHEUS, CLIENT) for kind in ("crt", "key")]
    files = [paths.prometheus_config, *(paths.pki / f for f in ("ca.crt", *own))]
    if setting.options.of(PrometheusOptions).tls:
        files += [paths.prometheus_web, paths.pki / f"{_AUTHORITY}.crt"]
    return (*map(setting.mount, files), setting.mount(paths.prometheus_data, read_only=False))


def _web(setting: Setting) -> str:
    """Say whom it answers: https://prometheus.io/docs/prometheus/latest/configuration/https/."""
    tls = {
        "cert_file": setting.pki(f"{PROMETHEUS}.crt"),
        "key_file": setting.pki(f"{PROMETHEUS}.key"),
        "client_auth_type": "RequireAndVerifyClientCert",
        "client_ca_file": setting.pki(f"{_AUTHORITY}.crt"),
    }
    return yaml.dump_all([{"tls_server_config": tls}])


def _objects() -> tuple[Json, ...]:
    return tuple(yaml.load_all(assets.text(_OBJECTS).replace("USER", _USER)))


def _identities(options: ClusterOptions) -> tuple[Identity, ...]:
    # Without an API server to ask, controller-manager and scheduler show metrics to administrators
    # only; every user may do everything then.
    groups = () if options.arguments.authorization else (identities.ADMIN_GROUP,)
    names = (*identities.here(options), PROMETHEUS)
    return (
        Identity(
            name=PROMETHEUS,
            common_name=_USER,
            organizations=groups,
            server=True,
            server_names=names,
        ),
        Identity(name=CLIENT, common_name=CLIENT, authority=_AUTHORITY),
    )


def _metrics(setting: Setting, dialler: ComponentName) -> MetricsPage:
    client = CLIENT if setting.options.of(PrometheusOptions).tls else ""
    return MetricsPage(address=setting.address(PROMETHEUS, dialler=dialler), client=client)


DEFINITION = Definition(
    options=PrometheusOptions,
    build=prometheus,
    identities=_identities,
    metrics=_metrics,
    collect=_collect,
    is_added_by_port=True,
    version=lambda options: prometheus_version(options.of(PrometheusOptions).version),
)
