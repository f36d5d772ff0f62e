"""Describes the embedded fake-node controller."""

from collections.abc import Mapping

from kwokctl.components import etcd
from kwokctl.components.flags import Value, flags
from kwokctl.components.heartbeat import heartbeat
from kwokctl.components.setting import Setting
from kwokctl.config.data_path import choose_data_path
from kwokctl.host.addresses import LOOPBACK, covers, dialled, joined
from kwokctl.model import KUBE_APISERVER, KWOK_CONTROLLER, Component, HttpProbe, NodeAddress, Port


def kwok_controller(setting: Setting) -> Component:
    """Describe the controller that plays the kubelets of all nodes."""
    port = setting.options.controller_port
    is_ours = not setting.options.kwok_controller_binary
    address = setting.address(KWOK_CONTROLLER, port)
    bind, node = setting.bind(KWOK_CONTROLLER), kubelet_address(setting)
    return Component(
        name=KWOK_CONTROLLER,
        artifact=setting.artifacts[KWOK_CONTROLLER],
        args=flags(
            {
                "kubeconfig": setting.kubeconfig(KWOK_CONTROLLER),
                "config": str(setting.site.path(setting.paths.saved)),
                **_nodes(setting),
                **_unless_given(setting, {"nodeName": node.name, "nodeIP": node.ip}),
                "node-port": port,
                "server-address": joined(_listening(bind, node.ip), port),
                "tls-cert-file": setting.pki(f"{KWOK_CONTROLLER}.crt"),
                "tls-private-key-file": setting.pki(f"{KWOK_CONTROLLER}.key"),
                # The same for every cluster: a restarted controller, and that of a cluster restored
                # from another's snapshot, goes on with the leases instead of waiting for their end.
                "holder-identity": KWOK_CONTROLLER if is_ours else None,
                "node-lease-duration-seconds": heartbeat(setting.options).lease_seconds,
                "enable-crds": ",".join(setting.options.enable_crds) or None,
                "server-token-file": str(setting.paths.controller_token) if is_ours else None,
                **(_data_path(setting) if is_ours else {}),
            },
            setting.user_args(KWOK_CONTROLLER),
        ),
        ports=(Port(name="http", port=port, host_port=port),),
        ready=(HttpProbe(url=f"http://{address}/readyz"),),
        after=frozenset({KUBE_APISERVER}),
        uses=frozenset({KUBE_APISERVER}),
    )


def kubelet_address(setting: Setting) -> NodeAddress:
    """Return where the API server reaches the controller in place of the kubelets of all nodes."""
    node = setting.site.node_address()
    here = dialled(setting.bind(KWOK_CONTROLLER))
    if node.ip != LOOPBACK or here == LOOPBACK:
        return node
    return NodeAddress(name=here, ip=here)


def _nodes(setting: Setting) -> dict[str, Value]:
    """Say which nodes are fake unless the user's documents do; real ones beside them have kubelets."""
    given = setting.controller_options
    if given.get("manageSingleNode") or given.get("manageNodesWithAnnotationSelector"):
        return {}
    if setting.site.has_own_nodes:
        return {
            "manage-all-nodes": False,
            "manage-nodes-with-annotation-selector": "kwok.x-k8s.io/node=fake",
        }
    return {} if given.get("manageNodesWithLabelSelector") else {"manage-all-nodes": True}


def _unless_given(setting: Setting, values: Mapping[str, str]) -> dict[str, Value]:
    """Return the flags of those options that the user's documents leave open."""
    words = {"nodeName": "node-name", "nodeIP": "node-ip"}
    return {
        words[name]: value
        for name, value in values.items()
        if not setting.controller_options.get(name)
    }


def _listening(bind: str, ip: str) -> str:
    """Return where to listen, so that the API server's proxy reaches nodes."""
    return bind if covers(bind, ip) else f"{bind},{ip}"


def _data_path(setting: Setting) -> dict[str, Value]:
    """Tell where etcd is if statuses and leases are written to it."""
    choice = choose_data_path(setting.options, extra_args=setting.extra_args)
    if choice.path == "api":
        return {}
    target = etcd.target(setting)
    return {
        # What is insisted on passes webhooks by, too; what was chosen heeds them.
        "data-path": "etcd" if setting.options.data_path == "etcd" else "auto",
        "etcd-endpoint": target.address,
        "etcd-cafile": str(target.ca) if target.ca else None,
        "etcd-certfile": str(target.cert) if target.cert else None,
        "etcd-keyfile": str(target.key) if target.key else None,
        "etcd-prefix": setting.options.etcd_prefix,
        "managed-fields": False if setting.options.managed_fields == "off" else None,
    }
