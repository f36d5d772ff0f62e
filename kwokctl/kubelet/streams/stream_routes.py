"""The paths of exec, attach and port-forward."""

from collections.abc import Iterable, Mapping

from kwokctl.config.config_documents import Document
from kwokctl.embedded.documents.custom_resource_watch import Use
from kwokctl.embedded.http.messages import UpgradeHandler
from kwokctl.embedded.http.route_table import Route
from kwokctl.kubelet.documents.document_reader import read_lookup
from kwokctl.kubelet.documents.in_force import lookup_uses
from kwokctl.kubelet.fleet.views import PodFinder
from kwokctl.kubelet.logs.file_changes import FileChanges
from kwokctl.kubelet.streams.attach import AttachHandler
from kwokctl.kubelet.streams.exec import ExecHandler
from kwokctl.kubelet.streams.fake_programs import FakePrograms
from kwokctl.kubelet.streams.forward.handler import ForwardHandler
from kwokctl.kubelet.streams.stream_documents import ATTACHES, EXECS, FORWARDS
from kwokctl.kubelet.streams.while_heard import WhileHeard

_METHODS = frozenset({"GET", "POST"})


class StreamRoutes:
    """The handlers of exec, attach and port-forward, for documents and custom resources."""

    def __init__(
        self,
        fleet: PodFinder,
        documents: Iterable[Document],
        changes: FileChanges,
        environment: Mapping[str, str],
        programs: FakePrograms,
    ) -> None:
        """Read the documents; ConfigError for one that is wrong. Commands inherit `environment`."""
        known = tuple(documents)
        execs = read_lookup(EXECS, known)
        attaches = read_lookup(ATTACHES, known)
        forwards = read_lookup(FORWARDS, known)
        handlers: Mapping[str, UpgradeHandler] = {
            "/exec": ExecHandler(fleet, execs, environment, programs),
            "/attach": AttachHandler(fleet, attaches, changes),
            "/portForward": ForwardHandler(fleet, forwards, environment),
        }
        self._handlers = {path: WhileHeard(each, fleet) for path, each in handlers.items()}
        self.uses: Mapping[str, Use] = {
            **lookup_uses(EXECS, execs, known),
            **lookup_uses(ATTACHES, attaches, known),
            **lookup_uses(FORWARDS, forwards, known),
        }
        """The functions that put custom resources into force, by kind."""

    def routes(self) -> Iterable[Route]:
        """Return the paths."""
        return [
            Route(path=path, is_tree=True, methods=_METHODS, take_over=handler, is_debugging=True)
            for path, handler in self._handlers.items()
        ]
