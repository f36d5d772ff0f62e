"""What holds for every test: a clean environment, and no way out of this machine by accident."""

import asyncio
import gc
import ipaddress
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from tests.support import engines, lanes, podman, runtime_page, store
from tests.support.distribution import (  # noqa: F401 - fixtures of several suites
    by_pip,
    by_pipx,
    package_index,
    requirements,
    twine,
    wheel,
)
from tests.support.installed import Installed
from tests.support.interrupting import end_as_by_ctrl_c

_TESTS = Path(__file__).parent
_MAY_LEAVE = {"packaging", "e2e", "first_day"}
"""Suites that install packages, or run components from the user's own store."""

_ELSEWHERE = ("proxy", "ca_bundle")
"""Ends of environment variables that send a client to other servers, or have it trust others."""


_MUST_NOT_BLOCK = ("controller", "dataplane", "embedded", "kubelet")
"""Packages whose event loop serves thousands of objects: a call that blocks delays them all."""

_MAY_BLOCK = (
    ("controller/settings.py", "read_settings"),
    ("embedded/process_metrics.py", "resident_bytes"),
)
"""What is read before the loop has work, and what the kernel makes up as it is read."""


_GARBAGE = 20_000
"""New objects until a garbage collection: thousands of tests and what they import stay until the end."""


def _suite(request: pytest.FixtureRequest) -> str:
    path: Path = request.node.path
    return path.relative_to(_TESTS).parts[0]


# Without this, Python 3.11 opens a loop for a caller that asks for the current one, and it is never closed.
asyncio.set_event_loop(None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--engine",
        choices=lanes.ENGINES,
        help="run only the tests that need this container engine, or none",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect less garbage, end cleanly, and let the lane of kind run beside that of Docker."""
    end_as_by_ctrl_c()
    gc.set_threshold(_GARBAGE)
    if config.getoption("--engine") == "kind":
        engines.run_beside_another()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that need another engine than asked for."""
    asked = config.getoption("--engine")
    if asked is None:
        return
    needs = {item: lanes.engine_of(mark.name for mark in item.iter_markers()) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if needs[item] != asked])
    items[:] = [item for item in items if needs[item] == asked]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what was imported and collected out of every garbage collection from now on."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("homes")
    return (root / str(number) for number in count())


@pytest.fixture(scope="session")
def _temporary() -> Iterator[str]:
    """Make a folder with a short path: clusters whose own path is too long for sockets have these in it."""
    with tempfile.TemporaryDirectory(prefix="kwokctl-tests-") as folder:
        yield folder


@pytest.fixture(autouse=True)
def _clean_environment(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    _homes: Iterator[Path],
    _temporary: str,
) -> None:
    """Let no setting, cluster, kubeconfig or cache of the user reach a test."""
    if _suite(request) in _MAY_LEAVE:
        return
    for name in os.environ:
        if name.startswith("KWOK_") or name.lower().endswith(_ELSEWHERE):
            monkeypatch.delenv(name)
    home = next(_homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("KWOK_WORKDIR", str(home / ".kwok"))
    monkeypatch.setenv("KUBECONFIG", str(home / ".kube" / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    monkeypatch.setenv("TMPDIR", _temporary)
    monkeypatch.setattr(tempfile, "tempdir", _temporary)


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Have SIGINT interrupt: a job in the background begins with it ignored, and so does all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have the components in the user's store, as the product itself gets them there.

    Who has named a program for each of them in the environment needs no store.
    """
    if all(os.environ.get(store.variable(name)) for name in store.PROGRAMS):
        return
    builder = Installed.within(tmp_path_factory.mktemp("programs"))
    done = builder.run("artifacts", "build", timeout=1500)
    if done.code:
        pytest.skip(f"the components are not available here: {done.err.strip()[-600:]}")


@pytest.fixture(scope="session")
def own_docker() -> Iterator[engines.Daemon]:
    """Start one dockerd for all tests of this run: they may restart it, and count what it has."""
    with engines.at_hand(engines.started()) as daemon:
        yield daemon


@pytest.fixture(scope="session")
def own_podman() -> Iterator[engines.Daemon]:
    """Start one service of Podman's for all tests of this run."""
    with engines.at_hand(podman.started()) as daemon:
        yield daemon


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    """Name a container engine as DOCKER_HOST does: the user's, else one that is started."""
    if url := engines.answering():
        return url
    daemon: engines.Daemon = request.getfixturevalue("own_docker")
    return daemon.url


@pytest.fixture(scope="session")
def written_runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the runtime of the documentation; returns the folder that PYTHONPATH must name."""
    return runtime_page.install(tmp_path_factory.mktemp("written-runtime"))


@pytest.fixture(autouse=True)
def _stay_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that leaves this machine."""
    if _suite(request) in _MAY_LEAVE:
        return
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))


@pytest.fixture(autouse=True)
def _no_blocking_calls(request: pytest.FixtureRequest, _stay_here: None) -> Iterator[None]:
    """Refuse calls that block, from the packages that must not, while an event loop runs.

    What is set last is taken back first: the other way round each test would leave a call behind.
    """
    place: Path = request.node.path.relative_to(_TESTS)
    if place.parts[0] != "unit" or place.parts[1] not in _MUST_NOT_BLOCK:
        yield
        return
    with blockbuster_ctx([f"kwokctl.{package}" for package in _MUST_NOT_BLOCK]) as watched:
        for call in watched.functions.values():
            for file, function in _MAY_BLOCK:
                call.can_block_in(f"kwokctl/{file}", {function})
        yield


def _guarded(connect: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: socket.socket, address: Any, /) -> Any:
        if self.family in {socket.AF_INET, socket.AF_INET6} and not _is_local(address[0]):
            pytest.fail(f"the test dials {address[0]}, which is not this machine")
        return connect(self, address)

    return guarded


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"
