"""The real components, and stories whose steps build on each other."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from kwokctl.errors import ArtifactError
from kwokctl.replacing import replace
from tests.support import changing
from tests.support.engines import ONE_PROCESSOR
from tests.support.installed import Installed, cleared
from tests.support.real_etcd import RealEtcd, program
from tests.support.shared_clusters import SharedClusters, in_turn

_failed: dict[tuple[Path, object], str] = {}
"""The first step that failed, by module and by the parameters of its stories."""


@pytest.fixture(scope="module")
def installed(programs: None) -> Iterator[Installed]:
    """Give a module clusters of its own, and take them away whatever happens."""
    with _installed() as kwokctl:
        yield kwokctl


@pytest.fixture(scope="session")
def _shared(programs: None) -> Iterator[SharedClusters]:
    shared = SharedClusters(_installed)
    yield shared
    shared.close()


@pytest.fixture(scope="module")
def usual(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster without options; it goes back to that for the next module."""
    with _shared.used("usual") as [cluster]:
        yield cluster


@pytest.fixture(scope="module")
def by_path(_shared: SharedClusters) -> Iterator[Mapping[str, Installed]]:
    """Share two empty clusters by their data path; they go back to that for the next module."""
    with _shared.used("by_path") as clusters:
        yield {cluster.name.removeprefix("by-"): cluster for cluster in clusters}


@pytest.fixture(scope="module")
def storage(_shared: SharedClusters) -> Iterator[Installed]:
    """Share a cluster that only stores what modules write to it; each deletes what it has written."""
    with _shared.used("storage", rewound=False) as [cluster]:
        # No pod is accepted without it, and no controller makes it here.
        cluster.apply(changing.service_account("default"))
        yield cluster


@pytest.fixture(scope="module")
def small_storage(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster that only stores, in an etcd with little room, and Events for 20 minutes."""
    with _shared.used("small_storage") as [cluster]:
        yield cluster


@pytest.fixture(scope="module")
def with_faults(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster that has Faults; it goes back to that for the next module."""
    with _shared.used("with_faults") as [cluster]:
        yield cluster


@pytest.fixture(scope="module")
def as_on_kubelets(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster that has Faults, and whose pods live as on a kubelet; it goes back to that for the next module."""
    with _shared.used("as_on_kubelets") as [cluster]:
        yield cluster


@pytest.fixture(scope="module")
def with_own_faults(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster that knows the classes of `fault_surfaces`; it goes back to that for the next module."""
    with _shared.used("with_own_faults") as [cluster]:
        yield cluster


@pytest.fixture(scope="module")
def with_repairs(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster that has Repairs, and no scheduler; it goes back to that for the next module."""
    with _shared.used("with_repairs") as [cluster]:
        yield cluster


@pytest.fixture(scope="module")
def with_stages(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster whose Stages are objects, and that has no scheduler; it goes back to that for the next module."""
    with _shared.used("with_stages") as [cluster]:
        yield cluster


@pytest.fixture(scope="module")
def with_schedulers(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster of `schedulers`; it goes back to that for the next module."""
    with _shared.used("with_schedulers") as [cluster]:
        yield cluster


@pytest.fixture(scope="module")
def with_documents(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster whose kubelet server has `kubelet_documents`; it goes back to that for the next module."""
    with _shared.used("with_documents") as [cluster]:
        yield cluster


@pytest.fixture(scope="module")
def audited_by_etcd(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster with an audit log, written to etcd nevertheless; it goes back to that for the next module."""
    with _shared.used("audited_by_etcd") as [cluster]:
        yield cluster


@pytest.fixture(scope="module")
def audited_by_api(_shared: SharedClusters) -> Iterator[Installed]:
    """Share an empty cluster with an audit log, whose fake kubelets write through the API server; it goes back to that for the next module."""
    with _shared.used("audited_by_api") as [cluster]:
        yield cluster


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let modules that share a cluster run one after the other."""
    items[:] = in_turn(items)


@contextmanager
def _installed() -> Iterator[Installed]:
    # A short path, as a user's is: unix sockets lie in it.
    folder = Path(tempfile.mkdtemp(prefix="kwokctl-e2e-"))
    kwokctl = replace(Installed.within(folder), settings=ONE_PROCESSOR)
    try:
        with cleared(kwokctl):
            yield kwokctl
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and (story := _story(item)):
        _failed.setdefault(story, item.name)
    return report


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the rest of a story once a step has failed: it would fail for that reason alone."""
    if (story := _story(item)) and (failed := _failed.get(story)):
        pytest.skip(f"'{failed}' failed before")


def _story(item: pytest.Item) -> tuple[Path, object] | None:
    """Tell which story a test is a step of: a module's, or one for each parameter `by` of it."""
    marker = item.get_closest_marker("story")
    if marker is None:
        return None
    by = marker.kwargs.get("by")
    assert isinstance(item, pytest.Function)
    return item.path, item.callspec.params[by] if by else None


@pytest.fixture(scope="session")
def etcd_program(programs: None) -> str:
    """Return the path of an etcd."""
    try:
        return asyncio.run(program())
    except ArtifactError as e:
        pytest.skip(str(e))


@pytest.fixture
def socket_folder() -> Iterator[Path]:
    """Return a folder whose path is short enough for a socket."""
    path = Path(tempfile.mkdtemp(prefix="etcd-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
async def etcd(etcd_program: str, socket_folder: Path) -> AsyncIterator[RealEtcd]:
    """Start an etcd without a cluster."""
    started = RealEtcd(etcd_program, socket_folder)
    await started.start()
    yield started
    started.kill()
