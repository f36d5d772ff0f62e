"""Describes a component that kwokctl does not have: a small web server, all of it in this file."""

import sys
from dataclasses import dataclass
from typing import ClassVar

from kwokctl.components import cluster_identities
from kwokctl.components.command_line import flags
from kwokctl.components.definition import Definition
from kwokctl.components.setting import Setting
from kwokctl.config.declaring import (
    ComponentOptions,
    binary_option,
    image_option,
    option,
    port_option,
)
from kwokctl.config.options import ClusterOptions
from kwokctl.model import (
    KUBE_APISERVER,
    Artifact,
    Component,
    ComponentName,
    HttpProbe,
    Identity,
    Port,
)

WEB_PAGE = ComponentName("web-page")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPageOptions(ComponentOptions):
    """The options of the web page."""

    component: ClassVar = WEB_PAGE

    port: int = port_option("Web page")
    binary: str = binary_option("A web server to run instead of Python's")
    image: str = image_option("web-page")
    protocol: str = option(
        "HTTP/1.0", "Version of HTTP that it speaks", group="Web page", metavar="VERSION"
    )


def web_page(setting: Setting) -> Component:
    """Describe the web server."""
    own = setting.options.of(WebPageOptions)
    inside = setting.site.port(WEB_PAGE, own.port)
    return Component(
        name=WEB_PAGE,
        artifact=setting.artifacts[WEB_PAGE],
        args=(
            str(inside),
            *flags(
                {"bind": setting.bind(WEB_PAGE), "protocol": own.protocol},
                setting.user_args(WEB_PAGE),
            ),
        ),
        ports=(Port(name="http", port=inside, host_port=own.port),),
        mounts=(setting.mount(setting.paths.component_kubeconfig(WEB_PAGE)),),
        ready=(HttpProbe(url=f"http://{setting.address(WEB_PAGE)}/"),),
        after=frozenset({KUBE_APISERVER}),
    )


def _identities(options: ClusterOptions) -> tuple[Identity, ...]:
    return (cluster_identities.serving(options, WEB_PAGE, "web-page"),)


DEFINITION = Definition(
    options=WebPageOptions,
    build=web_page,
    identities=_identities,
    is_client=True,
    embedded=Artifact(name=WEB_PAGE, version="v0", command=(sys.executable, "-m", "http.server")),
)
