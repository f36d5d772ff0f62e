"""The plugin: pytest finds it by its entry point, and loads no more than this until a test uses it."""

import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from kwokctl.errors import UsageError
from kwokctl.json_value import Json
from kwokctl.pytest_plugin import settings
from kwokctl.pytest_plugin.fault_markers import FAULT_MARKER, faults_of
from kwokctl.pytest_plugin.measured_tests import MEASURED_MARKER, kept_report, measured_test
from kwokctl.pytest_plugin.needs import MARKER, Needs, needs_of
from kwokctl.pytest_plugin.session import RunPlan, delete_all_of, session_cluster
from kwokctl.pytest_plugin.states import ClusterStates, Paused, Prepared, borrowed
from kwokctl.pytest_plugin.webhooks import WebhookServer, localized, webhook_server

if TYPE_CHECKING:
    from kwokctl.library.cluster import Cluster
    from kwokctl.library.measuring.measurement import Measurement

_STATES = pytest.StashKey[ClusterStates]()
_RUN = pytest.StashKey[str]()
_HAS_WORKERS = pytest.StashKey[bool]()
_WORDS = "nodes, pods, crds, stages, objects, webhooks"


class _WorkerNode(Protocol):
    """A worker as pytest-xdist shows it to the process that has started it."""

    config: pytest.Config
    workerinput: dict[str, str]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare options and keys."""
    settings.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    text = (
        f"{MARKER}({_WORDS}): the content of the cluster of the fixture `kwok` when the test begins"
    )
    config.addinivalue_line("markers", text)
    text = f"{FAULT_MARKER}(class, ...): a fault of the cluster of `kwok` when the test begins, in the words of `kwok.faults.inject`"
    config.addinivalue_line("markers", text)
    text = f"{MEASURED_MARKER}(load=, until=, by=, ...): how the fixture `measured` measures a test, in the words of `kwok.measure`"
    config.addinivalue_line("markers", text)
    given: Mapping[str, str] = getattr(config, "workerinput", {})
    config.stash[_RUN] = given.get("testrunuid") or uuid.uuid4().hex


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: _WorkerNode) -> None:
    """Note how the workers of this run call their clusters."""
    node.config.stash[_RUN] = node.workerinput["testrunuid"]
    node.config.stash[_HAS_WORKERS] = True


def pytest_unconfigure(config: pytest.Config) -> None:
    """Delete what workers have left behind."""
    if config.stash.get(_HAS_WORKERS, False) and not config.getoption("kwok_keep"):
        delete_all_of(RunPlan(run=config.stash[_RUN]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a failed test what was in its cluster."""
    report = yield
    cluster = getattr(item, "funcargs", {}).get("kwok")
    if report.failed and report.when != "teardown" and cluster is not None:
        from kwokctl.pytest_plugin.evidence import evidence

        states = item.session.stash[_STATES]
        lines = item.config.getoption("kwok_log_lines")
        report.sections += evidence(cluster, states.mark, states.began, lines)
        report.sections += kept_report(item)
    return report


@pytest.fixture(scope="session")
def kwok_options() -> Mapping[str, Json]:
    """Override it to choose options of the cluster; those of the configuration file come first."""
    return {}


@pytest.fixture(scope="session")
def kwok_setup() -> "Callable[[Cluster], object]":
    """Override it to return what prepares a new cluster, once for all tests and workers."""
    return lambda _: None


@pytest.fixture(scope="session")
def kwok_paused() -> Paused:
    """Override it to return what makes a context manager that keeps the operator under test away."""
    return nullcontext


@pytest.fixture(scope="session")
def kwok_webhook_server(tmp_path_factory: pytest.TempPathFactory) -> WebhookServer:
    """The address and files for the webhooks of the operator under test."""
    return webhook_server(tmp_path_factory.mktemp("kwok-webhooks"))


@pytest.fixture(scope="session")
def kwok_cluster(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    kwok_options: Mapping[str, Json],
    kwok_setup: "Callable[[Cluster], object]",
) -> "Iterator[Cluster]":
    """The cluster of the run, or the fork of this worker, with the kinds of the configuration file."""
    from kwokctl.library.cluster import Cluster

    plan = _plan(request, kwok_options)
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if plan.worker else base
    with session_cluster(plan, shared, kwok_setup, Cluster) as cluster, _kept(plan, cluster):
        # An operator that is started with this cluster needs its kinds.
        cluster.apply(_localizing(request)(settings.needs_of_all(request.config).crds))
        yield cluster


@pytest.fixture
def kwok(
    request: pytest.FixtureRequest, kwok_cluster: "Cluster", kwok_states: ClusterStates
) -> "Iterator[Cluster]":
    """The cluster, as it was before any test, and with what the test's markers say; faults end with the test."""
    with _said_without_traceback():
        faults = faults_of(request.node)
    kwok_states.begin(_needs(request.node))
    try:
        for each in faults:
            kwok_cluster.faults.inject(each.class_name, **each.words)
        yield kwok_cluster
    finally:
        kwok_cluster.faults.clear_injected()


@pytest.fixture
def measured(
    request: pytest.FixtureRequest, kwok: "Cluster", kwok_reports: Path
) -> "Iterator[Measurement]":
    """The measured run of the test, which begins with it; the first figure that is read ends it, and waits until nothing moves."""
    with measured_test(request.node, kwok, kwok_reports) as run:
        yield run


@pytest.fixture(scope="session")
def kwok_reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which records and reports of failed tests stay."""
    given = request.config.getoption("kwok_reports")
    return Path(given).expanduser().absolute() if given else tmp_path_factory.mktemp("kwok-reports")


@pytest.fixture(scope="session")
def kwok_states(
    request: pytest.FixtureRequest, kwok_cluster: "Cluster", kwok_paused: Paused
) -> Iterator[ClusterStates]:
    """The marks of the cluster."""
    states = ClusterStates(
        kwok_cluster,
        paused=kwok_paused,
        rest=settings.rest_of(request.config),
        common=settings.needs_of_all(request.config),
        localized=_localizing(request),
    )
    request.session.stash[_STATES] = states
    yield states
    if request.config.getoption("kwok_cluster"):
        states.end()


def _kept(plan: RunPlan, cluster: "Cluster") -> AbstractContextManager[None]:
    return borrowed(cluster) if cluster.name == plan.used else nullcontext()


def _localizing(request: pytest.FixtureRequest) -> Callable[[Sequence[Path]], Prepared]:
    def read(paths: Sequence[Path]) -> Prepared:
        server = partial(request.getfixturevalue, "kwok_webhook_server")
        return localized(paths, server) if paths else []

    return read


def _plan(request: pytest.FixtureRequest, options: Mapping[str, Json]) -> RunPlan:
    config = request.config
    given: Mapping[str, str] = getattr(config, "workerinput", {})
    chosen = {**settings.cluster_options(config), **options}
    kinds: list[Json] = []
    if any(_needs(item).stages for item in request.session.items):
        kinds.append("Stage")
    if any(item.get_closest_marker(FAULT_MARKER) for item in request.session.items):
        kinds.append("Fault")
    if kinds:
        chosen.setdefault("enable_crds", kinds)
    return RunPlan(
        run=config.stash[_RUN],
        worker=given.get("workerid", ""),
        used=config.getoption("kwok_cluster"),
        source=config.getoption("kwok_from"),
        keep=config.getoption("kwok_keep"),
        options=chosen,
    )


def _needs(item: pytest.Item) -> Needs:
    """Return what all tests need, and what the markers of one say: the closest one counts most."""
    found = settings.needs_of_all(item.config)
    for marker in reversed(list(item.iter_markers(MARKER))):
        place = f"@pytest.mark.{MARKER} of {item.name}"
        with _said_without_traceback():
            found = found.joined(needs_of(marker.kwargs, item.path.parent, place))
    return found


@contextmanager
def _said_without_traceback() -> Iterator[None]:
    """Let a mistake in a marker fail the test with its words alone: the plugin's code does not explain it."""
    said = ""
    try:
        yield
    except UsageError as e:
        said = "\n".join(filter(None, (str(e), e.hint)))
    if said:  # out of 'except', where pytest would show the error twice
        pytest.fail(said, pytrace=False)
