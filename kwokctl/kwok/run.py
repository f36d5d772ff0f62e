"""Runs the controller and the kubelet server in one process, until a signal ends it."""

import asyncio
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from kwokctl.controller.leases.holder import own_identity
from kwokctl.controller.run import play
from kwokctl.controller.serving.controller_routes import Handlers
from kwokctl.embedded.cluster_access import cluster_access, with_credential
from kwokctl.embedded.component_process import (
    LogProgress,
    run_process,
    set_verbosity,
)
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kubelet.general_routes import Companion
from kwokctl.kubelet.run import answer
from kwokctl.kubelet.settings import KubeletSettings
from kwokctl.kwok.credentials import cluster_authority, own_certificate
from kwokctl.kwok.settings import KwokSettings, read_kwok_settings
from kwokctl.replacing import replace
from kwokctl.tasks import beside


def main(argv: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT, and return the exit code."""

    def begin() -> Coroutine[object, object, None]:
        given = sys.argv[1:] if argv is None else argv
        settings = read_kwok_settings(given, LogProgress())
        set_verbosity(settings.controller.verbosity)
        access = cluster_access(settings.controller.kubeconfig, settings.controller.master)
        return serve(settings, access)

    return run_process(begin)


async def serve(settings: KwokSettings, access: Access) -> None:
    """Play and answer until cancelled; the cluster may come and go meanwhile."""
    with TemporaryDirectory(prefix="kwok-") as folder:
        await _serve(settings, await with_credential(access), Path(folder))


async def _serve(settings: KwokSettings, access: Access, folder: Path) -> None:
    holder = settings.controller.holder_identity or own_identity()
    if settings.kubelet is None:
        await play(settings.controller, access, holder)
        return
    played = PublishedAnswers()
    companion = Companion(is_ready=played.is_ready, metrics=played.metrics)
    async with beside(play(settings.controller, access, holder, played.publish)):
        kubelet = await _with_credentials(settings.kubelet, settings.client_ca, access, folder)
        await answer(kubelet, access, companion)


async def _with_credentials(
    kubelet: KubeletSettings, client_ca: Path | None, access: Access, folder: Path
) -> KubeletSettings:
    """Give the server the certificate that it shows, and the authority of those that it accepts."""
    authority = client_ca or await cluster_authority(access, folder, Random())
    if kubelet.tls is not None:
        return replace(kubelet, tls=replace(kubelet.tls, client_ca=authority))
    tls = await asyncio.to_thread(own_certificate, folder, authority)
    return replace(kubelet, tls=tls)


class PublishedAnswers:
    """The controller's answers, which are there as soon as it is."""

    def __init__(self) -> None:
        self._handlers: Handlers | None = None

    def publish(self, handlers: Handlers) -> None:
        """Answer by these."""
        self._handlers = handlers

    def is_ready(self) -> bool:
        """Return whether the controller has listed everything."""
        return self._handlers is not None and self._handlers.is_ready()

    async def metrics(self) -> str:
        """Return the controller's page."""
        return await self._handlers.metrics() if self._handlers else ""
