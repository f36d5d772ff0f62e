"""The facts about fake nodes on which all programs must agree: their selector, and their kubelet's address."""

from ipaddress import ip_address

from kwokctl.components.command_line import Value
from kwokctl.components.setting import Setting
from kwokctl.host.ports import LOOPBACK, covers, dialled, joined
from kwokctl.model import KWOK_CONTROLLER, KWOK_KUBELET, ComponentName, NodeAddress

KUBELET_ADDRESS = "kwokctl.dev/Kubelet"
"""The type of a node's address at which its kubelet answers. Other clients do not know it, and take
an internal address, which leads nowhere."""
NOWHERE = "198.19.255.254"
"""The internal address of nodes that are given none: the last of the network for measurements
(RFC 2544, section C.2.2); `scale` gives out the first ones. Loopback addresses are refused in
EndpointSlices, and by the API server's proxy."""


def has_kubelet(setting: Setting) -> bool:
    """Return whether the cluster has the kubelet server; another controller brings its own."""
    return KWOK_KUBELET in setting.artifacts


def kubelet_port(setting: Setting) -> int:
    """Return the port of the kubelet of every fake node."""
    return setting.port(KWOK_KUBELET if has_kubelet(setting) else KWOK_CONTROLLER)


def kubelet_address(setting: Setting) -> NodeAddress:
    """Return where the API server reaches the kubelet of every fake node."""
    node = setting.site.node_address()
    here = dialled(setting.bind(KWOK_CONTROLLER))
    if node.ip != LOOPBACK or here == LOOPBACK:
        return node
    return NodeAddress(name=here, ip=here)


def internal_address(setting: Setting) -> str:
    """Return the internal address of nodes that are given none."""
    found = kubelet_address(setting).ip
    try:
        return NOWHERE if ip_address(found).is_loopback else found
    except ValueError:  # on kind it is known only once there is a network
        return found


def listening(setting: Setting, name: ComponentName, port: int) -> str:
    """Return where a program listens so that it is reached as the kubelet of fake nodes."""
    bind, ip = setting.bind(name), kubelet_address(setting).ip
    return joined(bind if covers(bind, ip) else f"{bind},{ip}", port)


def reached_host(setting: Setting, name: ComponentName) -> str:
    """Return the only address at which a program listens that cannot do so at two."""
    bind, ip = setting.bind(name), kubelet_address(setting).ip
    return bind if covers(bind, ip) else ip


def selecting(setting: Setting) -> dict[str, Value]:
    """Return the flags that select fake nodes, unless the user's documents select them."""
    given = setting.controller_options
    if given.get("manageSingleNode") or given.get("manageNodesWithAnnotationSelector"):
        return {}
    if setting.site.has_own_nodes:
        return {
            "manage-all-nodes": False,
            "manage-nodes-with-annotation-selector": "kwok.x-k8s.io/node=fake",
        }
    return {} if given.get("manageNodesWithLabelSelector") else {"manage-all-nodes": True}
