"""The paths of exec, attach and port-forward."""

from collections.abc import Iterable, Mapping

from kwokctl.config.documents import Document
from kwokctl.kubelet.documents.reader import read_lookup
from kwokctl.kubelet.http.messages import UpgradeHandler
from kwokctl.kubelet.http.routes import Route
from kwokctl.kubelet.logs.file_changes import FileChanges
from kwokctl.kubelet.streams.attach.documents import ATTACHES
from kwokctl.kubelet.streams.attach.handler import AttachHandler
from kwokctl.kubelet.streams.commands.documents import EXECS
from kwokctl.kubelet.streams.commands.handler import ExecHandler
from kwokctl.kubelet.streams.forward.documents import FORWARDS
from kwokctl.kubelet.streams.forward.handler import ForwardHandler
from kwokctl.kubelet.streams.targets import PodFinder

_METHODS = frozenset({"GET", "POST"})


def stream_routes(
    fleet: PodFinder,
    documents: Iterable[Document],
    changes: FileChanges,
    environment: Mapping[str, str],
) -> Iterable[Route]:
    """Return them; ConfigError for documents that are wrong. Commands inherit `environment`."""
    known = tuple(documents)
    handlers: Mapping[str, UpgradeHandler] = {
        "/exec": ExecHandler(fleet, read_lookup(EXECS, known), environment),
        "/attach": AttachHandler(fleet, read_lookup(ATTACHES, known), changes),
        "/portForward": ForwardHandler(fleet, read_lookup(FORWARDS, known), environment),
    }
    return [
        Route(path=path, is_tree=True, methods=_METHODS, take_over=handler, is_debugging=True)
        for path, handler in handlers.items()
    ]
