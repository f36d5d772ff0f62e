"""Says how this host gets the metrics of a cluster's components, as the cluster's owner."""

from pathlib import Path

import msgspec

from kwokctl.components.catalog import catalog
from kwokctl.components.custom_components import extra_page
from kwokctl.components.definitions import etcd
from kwokctl.components.metrics_page import SERVER_NAME, MetricsPage
from kwokctl.components.setting import Setting
from kwokctl.model import ETCD, KWOK_CONTROLLER, PROMETHEUS, ComponentName, HttpProbe


class HostPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page in the Prometheus text format, as this host asks for it."""

    page: HttpProbe
    token: Path | None = None
    """A file with the token for it."""
    is_unverified: bool = False
    """Whether the certificate of its server cannot be verified."""
    server_name: str = ""
    """The name in that certificate, if not the one that is dialled."""


def host_page(name: ComponentName, setting: Setting) -> HostPage | None:
    """Return the page of a component; None if it has none.

    Those that the kubelet server relays to Prometheus are read where they come from: the owner may do anything there.
    """
    if extra := setting.options.described(name):
        found = extra_page(extra)
        return _as_owner(found, setting) if found else None
    if name == ETCD:
        return HostPage(page=etcd.page(setting, "/metrics"))
    if name == KWOK_CONTROLLER:
        url = f"http://{setting.address(KWOK_CONTROLLER)}/metrics"
        is_other = bool(setting.options.component(KWOK_CONTROLLER).binary)
        token = None if is_other else setting.paths.controller_token
        return HostPage(page=HttpProbe(url=url), token=token)
    page = catalog()[name].metrics(setting, None)
    return _as_owner(page, setting) if page else None


def _as_owner(page: MetricsPage, setting: Setting) -> HostPage:
    where = f"{page.address}{page.path}"
    if page.is_unverified:
        return HostPage(page=HttpProbe(url=f"https://{where}"), is_unverified=True)
    if not page.client:
        return HostPage(page=HttpProbe(url=f"http://{where}"))
    if page.client == PROMETHEUS:  # its certificate is there only where it is, too
        return HostPage(page=setting.probe(f"https://{where}"), server_name=SERVER_NAME)
    pki = setting.paths.pki
    files = {
        "ca": pki / "ca.crt",
        "cert": pki / f"{page.client}.crt",
        "key": pki / f"{page.client}.key",
    }
    return HostPage(page=HttpProbe(url=f"https://{where}", **files), server_name=SERVER_NAME)
