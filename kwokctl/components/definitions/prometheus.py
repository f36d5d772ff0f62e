"""Describes Prometheus, which collects the metrics of all components and of all fake nodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kwokctl import assets
from kwokctl.artifacts.versions import DEFAULT_PROMETHEUS_VERSION, prometheus_version
from kwokctl.components import cluster_identities
from kwokctl.components.command_line import flags
from kwokctl.components.definition import Definition
from kwokctl.components.fake_nodes import has_kubelet
from kwokctl.components.metrics_page import SECONDS, SERVER_NAME, MetricsPage, Pages, own_page
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
    KWOK_KUBELET,
    PROMETHEUS,
    Component,
    ComponentName,
    HttpProbe,
    Identity,
    Mount,
    Port,
)

CLIENT = "prometheus-client"
"""The identity of clients that Prometheus answers."""
_NODES = "nodes"
"""The job of what fake nodes, pods and containers use."""
_LONGEST = 10
"""Seconds that an answer may take."""


def scraping(setting: Setting, pages: Pages, seconds: int) -> str:
    """Return the configuration with which every page is read once per interval."""
    jobs = [_job(setting, name, page) for name, page in pages.items()]
    if has_kubelet(setting):
        jobs.append(_fleet(setting, own_page(KWOK_KUBELET, setting, PROMETHEUS), seconds))
    often = {
        "scrape_interval": f"{seconds}s",
        "scrape_timeout": f"{min(seconds, _LONGEST)}s",
        "evaluation_interval": f"{seconds}s",
    }
    return yaml.dump_all([{"global": often, "scrape_configs": jobs}])


def _job(setting: Setting, name: ComponentName, page: MetricsPage) -> dict[str, Json]:
    if page.is_discovery:
        return _discovery(name, page, _credentials(setting, page))
    return {
        "job_name": name,
        "metrics_path": page.path,
        **_credentials(setting, page),
        "static_configs": [{"targets": [page.address], "labels": {"instance": name}}],
    }


def _discovery(
    name: ComponentName, page: MetricsPage, access: Mapping[str, Json]
) -> dict[str, Json]:
    """Discover the targets on a page; what the page does not say of them is as for the page itself."""
    url = f"{access['scheme']}://{page.address}{page.path}"
    tls = {key: value for key, value in access.items() if key == "tls_config"}
    return {"job_name": name, **access, "http_sd_configs": [{"url": url, **tls}]}


def _fleet(setting: Setting, kubelet: MetricsPage, seconds: int) -> dict[str, Json]:
    """Discover the pages of all nodes, with their paths, from the kubelet server."""
    access = _credentials(setting, kubelet)
    url = f"https://{kubelet.address}/discovery/prometheus"
    return {
        "job_name": _NODES,
        # In a long round through many nodes an answer that is late is not missing.
        "scrape_timeout": f"{max(min(seconds, _LONGEST), seconds - _LONGEST)}s",
        **access,
        "http_sd_configs": [
            {"url": url, "refresh_interval": f"{seconds}s", "tls_config": access["tls_config"]}
        ],
        # All nodes have the address of their kubelet; their names tell them apart.
        "relabel_configs": [
            {"source_labels": ["node"], "regex": "(.+)", "target_label": "instance"}
        ],
    }


def _credentials(setting: Setting, page: MetricsPage) -> dict[str, Json]:
    if page.is_unverified:
        return {"scheme": "https", "tls_config": {"insecure_skip_verify": True}}
    if not page.client:
        return {"scheme": "http"}
    tls = {
        "ca_file": setting.pki("ca.crt"),
        "cert_file": setting.pki(f"{page.client}.crt"),
        "key_file": setting.pki(f"{page.client}.key"),
        "server_name": SERVER_NAME,
    }
    return {"scheme": "https", "tls_config": tls}


_USER = "kwokctl:prometheus"
_OBJECTS = "components/prometheus.yaml"
_DASHBOARD = "dashboards/kwok.json"
_FLEET_DASHBOARD = "dashboards/fleet.json"
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
            paths.fleet_dashboard: assets.text(_FLEET_DASHBOARD),
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
    groups = () if options.arguments.authorization else (cluster_identities.ADMIN_GROUP,)
    names = (*cluster_identities.here(options), PROMETHEUS)
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


def _metrics(setting: Setting, dialler: ComponentName | None) -> MetricsPage:
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
