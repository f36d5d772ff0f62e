"""Writes what Prometheus scrapes: every component of a cluster, and every fake node.

The form is that of https://prometheus.io/docs/prometheus/latest/configuration/configuration/.
"""

from collections.abc import Mapping

from kwokctl.components.fake_nodes import has_kubelet
from kwokctl.components.metrics.metrics_page import SERVER_NAME, MetricsPage, Pages, own_page
from kwokctl.components.setting import Setting
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.model import KWOK_KUBELET, PROMETHEUS, ComponentName

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
