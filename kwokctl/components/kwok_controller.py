"""Describes the embedded fake-node controller."""

from kwokctl.components.flags import flags
from kwokctl.components.heartbeat import heartbeat
from kwokctl.components.setting import Setting
from kwokctl.model import KUBE_APISERVER, KWOK_CONTROLLER, Component, HttpProbe, Port


def kwok_controller(setting: Setting) -> Component:
    """Describe the controller that plays the kubelets of all nodes."""
    port = setting.options.controller_port
    is_ours = not setting.options.kwok_controller_binary
    address = setting.site.address(KWOK_CONTROLLER, port)
    return Component(
        name=KWOK_CONTROLLER,
        artifact=setting.artifacts[KWOK_CONTROLLER],
        args=flags(
            {
                "kubeconfig": setting.kubeconfig(KWOK_CONTROLLER),
                "config": str(setting.site.path(setting.paths.saved)),
                "manage-all-nodes": True,
                "node-name": "localhost",
                "node-ip": setting.site.bind,
                "node-port": port,
                "server-address": f"{setting.site.bind}:{port}",
                "tls-cert-file": setting.pki(f"{KWOK_CONTROLLER}.crt"),
                "tls-private-key-file": setting.pki(f"{KWOK_CONTROLLER}.key"),
                # The same for every cluster: a restarted controller, and that of a cluster restored
                # from another's snapshot, goes on with the leases instead of waiting for their end.
                "holder-identity": KWOK_CONTROLLER if is_ours else None,
                "node-lease-duration-seconds": heartbeat(setting.options).lease_seconds,
            },
            setting.user_args(KWOK_CONTROLLER),
        ),
        ports=(Port(name="http", port=port, host_port=port),),
        ready=(HttpProbe(url=f"http://{address}/readyz"),),
        after=frozenset({KUBE_APISERVER}),
        uses=frozenset({KUBE_APISERVER}),
    )
