"""What holds for every test: a clean environment, and no way out of this machine by accident."""

import asyncio
import gc
import os
import re
import signal
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path

import pytest

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
from tests.support.surroundings import MUST_NOT_BLOCK, Surroundings

_TESTS = Path(__file__).parent
_MAY_LEAVE = {"packaging", "e2e", "first_day"}
"""Suites that install packages, or run components from the user's own store."""

_GARBAGE = 20_000
"""New objects until a garbage collection: thousands of tests and what they import stay until the end."""


@cache
def _place(file: Path) -> tuple[str, str]:
    """Return the suite of a file of tests, and the package or file in it."""
    suite, package, *_ = file.relative_to(_TESTS).parts
    return suite, package


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
def _surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surroundings]:
    # A folder with a short path: clusters whose own path is too long for sockets have these in it.
    with tempfile.TemporaryDirectory(prefix="kwokctl-tests-") as temporary:
        yield Surroundings(tmp_path_factory.mktemp("homes"), temporary)


@pytest.fixture(autouse=True)
def _apart(request: pytest.FixtureRequest, _surroundings: Surroundings) -> Iterator[None]:
    """Keep a test away from the user and from other machines: one fixture, for each takes its time of every test."""
    suite, package = _place(request.node.path)
    if suite in _MAY_LEAVE:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        _surroundings.hide(patch)
        _surroundings.stay(patch)
        if suite != "unit" or package not in MUST_NOT_BLOCK:
            yield
            return
        # What is set last is taken back first: the other way round each test would leave a call behind.
        with _surroundings.unblocked():
            yield


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    _numbers: Iterator[int],
) -> Path:
    """Make a folder for a test; pytest's own fixture looks through those of all tests before it."""
    name = re.sub(r"\W", "_", request.node.name)[:26]
    return tmp_path_factory.mktemp(f"{name}-{next(_numbers)}", numbered=False)


@pytest.fixture(scope="session")
def _numbers() -> Iterator[int]:
    return count()


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
