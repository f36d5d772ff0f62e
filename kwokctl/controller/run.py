"""Runs the controller as a process of its own, until a signal ends it."""

import asyncio
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from kwokctl import __version__
from kwokctl.controller.cluster.admission_watch import Guards
from kwokctl.controller.cluster.reader import ApiReader
from kwokctl.controller.cluster.watchers import Following
from kwokctl.controller.leases.identity import own_identity
from kwokctl.controller.serving.authorization import Guard
from kwokctl.controller.serving.kubelet_answers import KubeletAnswers
from kwokctl.controller.serving.routes import Answers, routes
from kwokctl.controller.serving.server import Server
from kwokctl.controller.settings import EtcdAccess, Settings, read_settings
from kwokctl.controller.wiring import Controller, Surroundings
from kwokctl.controller.write_errors import backoff
from kwokctl.dataplane.api import ApiPlane
from kwokctl.dataplane.etcd import EtcdRoute
from kwokctl.dataplane.keys import Keys
from kwokctl.dataplane.open_plane import open_plane
from kwokctl.dataplane.port import DataPlane
from kwokctl.dataplane.scale_protocol import KubeletEndpoint
from kwokctl.dataplane.store import Store
from kwokctl.errors import KwokctlError, UnavailableError, UsageError
from kwokctl.etcd.kv.kv import Kv
from kwokctl.host.event_loop import new_event_loop
from kwokctl.host.heap import give_back
from kwokctl.host.paths import home_folder
from kwokctl.host.tokens import new_token
from kwokctl.kube.client import Client
from kwokctl.kube.collections.terminated_watchers import NAME, EndedWatches
from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.progress import Silent

log = logging.getLogger("kwok")

_CONNECTIONS = 24
"""More do not make the API server faster, and each costs half a megabyte of TLS buffers."""
_MANAGER = "kwok-controller"
"""Under which name the cluster keeps which fields the fake kubelets have written, as with kwok's."""
_GC_THRESHOLDS = (50_000, 20, 100)
"""Thousands of objects are kept for long: looking through them often finds nothing."""
_ASK_EVERY = 10.0
"""Seconds between looks at the metrics of the API server, which are long."""
_GIVE_BACK_EVERY = 60.0
"""Seconds."""
_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class _Notes(Silent):
    """What is told while settings are read goes to the log."""

    def note(self, text: str) -> None:
        log.info("%s", text)

    def warn(self, text: str) -> None:
        log.warning("%s", text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT, and return the exit code."""
    _log_to_stderr()
    try:
        settings = read_settings(sys.argv[1:] if argv is None else argv, _Notes())
        logging.getLogger().setLevel(_level(settings.verbosity))
        _run(serve(settings, _access(settings), settings.holder_identity or own_identity()))
    except KwokctlError as e:
        return _told(e)
    return 0


def _told(error: KwokctlError) -> int:
    log.error("%s", error)
    if error.hint:
        log.error("hint: %s", error.hint)
    return error.exit_code


async def serve(settings: Settings, access: Access, holder: str) -> None:
    """Play nodes and pods until SIGTERM or SIGINT; the cluster may come and go meanwhile."""
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    pool = Pool(access, connections=_CONNECTIONS, user_agent=f"kwok/{__version__}")
    try:
        await _serve(settings, pool, holder)
    except asyncio.CancelledError:
        log.info("received a signal to end")
    finally:
        await pool.close()


class _Work:
    """What is there once the data plane has been chosen; until then nothing is ready."""

    def __init__(self, controller: Controller, following: Following) -> None:
        self.controller = controller
        self.following = following


async def _serve(settings: Settings, pool: Pool, holder: str) -> None:
    work: _Work | None = None
    ended = EndedWatches(pool, every=_ASK_EVERY, clock=asyncio.get_running_loop().time)

    async def metrics() -> str:
        if work is None:
            return ""
        await ended.refresh()
        return work.controller.metrics.text()

    answers = Answers(
        is_ready=lambda: work is not None and work.following.is_synced,
        metrics=metrics,
        kubelet=msgspec.json.encode(
            KubeletEndpoint(name=settings.kubelet.name, port=settings.kubelet.port)
        ),
        seen=lambda: work.controller.desk.seen() if work else None,
        reserve=lambda body: work.controller.desk.reserve(body) if work else None,
    )
    guard = Guard(await _token(settings.server_token_file))
    kubelet = KubeletAnswers(*settings.certificate) if settings.certificate else None
    server = Server(routes(answers), guard, kubelet)
    if settings.server is not None:
        await _listen(server, *settings.server)
    try:
        random = Random()  # noqa: S311 - chance of stages, not a secret
        wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
        plane = await _plane(settings.etcd, pool, random, wall)
        client = Client(pool)
        around = Surroundings(plane=plane, reader=ApiReader(client), random=random, wall=wall)
        controller = Controller(settings, holder, around)
        controller.metrics.ask(lambda: {(NAME, ()): ended.number})
        controller.metrics.ask(plane.figures)
        insists = settings.etcd is not None and settings.etcd.insists
        guards = Guards(plane, pool, random) if plane.past_api and not insists else None
        work = _Work(controller, Following(client, controller, settings.selection, random))
        log.info("playing %d stages as %s", len(settings.stages), holder)
        await _play(work, guards)
    finally:
        server.close()


async def _plane(
    access: EtcdAccess | None, pool: Pool, random: Random, wall: Callable[[], float]
) -> DataPlane:
    """Choose how the controller writes; waits until the cluster answers."""
    api = ApiPlane(pool, manager=_MANAGER)
    if access is None:
        return api
    at = access.target
    route = EtcdRoute(
        address=at.address,
        store=Store(Kv(at.address, ca=at.ca, cert=at.cert, key=at.key)),
        keys=Keys(access.prefix),
        managed_fields=access.managed_fields,
    )
    pauses = (backoff(tries, random, first=0.2, most=5.0) for tries in count(1))
    plane = await open_plane(api, route, wall, pauses=pauses)
    if plane.past_api:
        log.info("writing statuses and leases to etcd at '%s'", at.address)
    return plane


async def _play(work: _Work, guards: Guards | None) -> None:
    async with asyncio.TaskGroup() as tasks:
        if guards is not None:
            tasks.create_task(guards.run())
            await guards.known()
        tasks.create_task(work.controller.run())
        tasks.create_task(work.following.run())
        tasks.create_task(_settle(work.following))
        tasks.create_task(_stay_small())


async def _stay_small() -> None:
    """Keep no memory that pods have left behind."""
    while True:
        await asyncio.sleep(_GIVE_BACK_EVERY)
        give_back()


async def _settle(following: Following) -> None:
    """Let the garbage collector leave out all that is there when everything is known."""
    await following.synced()
    log.info("everything has been listed")
    gc.collect()
    gc.freeze()


async def _token(file: Path | None) -> str | None:
    """Make the token that the owner shows, if there is a file for it."""
    if file is None:
        return None
    try:
        return await asyncio.to_thread(new_token, file)
    except OSError as e:
        raise UnavailableError(
            f"the token cannot be written to '{file}': {e.strerror}",
            hint="give another file with --server-token-file",
        ) from e


async def _listen(server: Server, host: str, port: int) -> None:
    try:
        await server.start(host, port)
    except OSError as e:
        raise UnavailableError(
            f"cannot serve on '{host}:{port}': {e.strerror}",
            hint="give another address with --server-address",
        ) from e


def _access(settings: Settings) -> Access:
    """Find out how to reach the cluster: a kubeconfig, or the one that this pod runs in."""
    usual = (home_folder() or Path("/")) / ".kube" / "config"
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    if settings.kubeconfig is not None:
        access = load_access(settings.kubeconfig)
    elif usual.exists():
        access = load_access(usual)
    elif host:
        port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        access = Access(
            server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
            ca=(_SERVICE_ACCOUNT / "ca.crt").read_bytes(),
            token=(_SERVICE_ACCOUNT / "token").read_text(encoding="ascii").strip(),
        )
    elif settings.master:
        access = Access(server=settings.master)
    else:
        raise UsageError(
            "there is no cluster to connect to", hint="give a kubeconfig with --kubeconfig"
        )
    return replace(access, server=settings.master.rstrip("/")) if settings.master else access


def _run(work: Coroutine[Any, Any, None]) -> None:
    gc.set_threshold(*_GC_THRESHOLDS)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(work)


def _log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines())
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger().setLevel(logging.INFO)


def _level(verbosity: int) -> int:
    if verbosity <= -2:
        return logging.ERROR
    if verbosity == -1:
        return logging.WARNING
    return logging.DEBUG if verbosity >= 4 else logging.INFO


class _Lines(logging.Formatter):
    """Lines as Kubernetes components write them: level, date, time, process, source."""

    def __init__(self) -> None:
        super().__init__(
            "%(levelname).1s%(asctime)s.%(msecs)03d000 %(process)d %(filename)s:%(lineno)d] %(message)s",
            datefmt="%m%d %H:%M:%S",
        )
