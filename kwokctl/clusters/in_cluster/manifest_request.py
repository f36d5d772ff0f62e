"""The controller that a user wants to run in a cluster, before its objects are written."""

from collections.abc import Mapping, Sequence

import msgspec

from kwokctl import __version__
from kwokctl.clusters.in_cluster.sizing import USUAL, Size
from kwokctl.json_value import Json

NAME = "kwok-controller"
"""Of all objects but those that others name."""
NAMESPACE = "kwok-system"
PORT = 10247
FAKE_LABEL = ("type", "kwok")
"""The label of fake nodes; selectors of pods cannot name annotations."""
IMAGE = f"localhost/kwokctl/kwok:{__version__}"
"""The image that `make image` makes."""
THROUGH_SERVICE, THROUGH_POD = "service", "pod"


class ManifestRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The controller that is to run in a cluster."""

    stages: Sequence[Mapping[str, Json]]
    """The documents of the Stages that it plays."""
    documents: Sequence[Mapping[str, Json]] = ()
    """Documents of what kubelets answer."""
    options: Mapping[str, Json] = msgspec.field(default_factory=dict)
    """Options of KwokConfiguration that are not as usual."""
    namespace: str = NAMESPACE
    size: Size = USUAL
    image: str = IMAGE
    custom_kinds: Sequence[str] = ()
    """Kinds of documents that are custom resources, with their definitions."""
    has_kubelet_pods: bool = False
    """Whether pods follow the rules of a kubelet."""
    kubelet_through: str = THROUGH_SERVICE
    """At which address the API server asks for logs and similar."""
    api_server: tuple[str, int] | None = None
    """The address of the API server, for a cluster in which the address of its Service does not answer."""
    steering: str = ""
    """The version of the policy that sends pods to fake nodes if they are meant for them; empty for no policy."""
