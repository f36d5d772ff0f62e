"""Each state is prepared once; tests after that go back to its mark."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kwokctl.pytest_plugin.needs import Needs
from kwokctl.pytest_plugin.states import ClusterStates, Paused, Prepared, borrowed

COMMON = Needs(nodes=2, crds=(Path("crd.yaml"),))
MORE = COMMON.joined(Needs(nodes=5, pods=0, webhooks=(Path("hook.yaml"),)))
MARK = f"pytest-{MORE.key}"


class RecordingCluster:
    """Writes down what is done with it."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def apply(self, manifests: Prepared, /) -> None:
        if manifests:
            self.done.append(f"apply {' '.join(map(str, manifests))}")

    def scale(self, kind: str, replicas: int, /) -> None:
        self.done.append(f"scale {kind} {replicas}")

    def mark(self, name: str, /, *, rest: float) -> None:
        self.done.append(f"mark {name} {rest:g}")

    def rewind(self, name: str, /, *, paused: Paused) -> None:
        with paused():
            self.done.append(f"rewind {name}")

    def drop(self, name: str, /) -> None:
        self.done.append(f"drop {name}")


def _states(cluster: RecordingCluster) -> ClusterStates:
    @contextmanager
    def paused() -> Iterator[None]:
        cluster.done.append("pause")
        yield
        cluster.done.append("continue")

    def localized(paths: Sequence[Path]) -> Prepared:
        return [Path("here") / path for path in paths]

    return ClusterStates(cluster, paused=paused, rest=0.5, common=COMMON, localized=localized)


def _steps(*marks: str) -> list[str]:
    return [step for mark in marks for step in ("pause", f"rewind {mark}", "continue")]


def test_what_every_test_finds_is_prepared_for_the_first() -> None:
    cluster = RecordingCluster()
    states = _states(cluster)

    states.begin(COMMON)
    assert cluster.done == ["apply here/crd.yaml", "scale node 2", "mark pytest 0.5"]
    cluster.done.clear()
    states.begin(COMMON)
    assert cluster.done == _steps("pytest")


def test_what_tests_need_is_prepared_once() -> None:
    cluster = RecordingCluster()
    states = _states(cluster)
    states.begin(MORE)
    assert cluster.done == [
        "apply here/crd.yaml",
        "scale node 2",
        "mark pytest 0.5",
        "apply here/crd.yaml",
        "scale node 5",
        "scale pod 0",
        "apply here/hook.yaml",
        f"mark {MARK} 0.5",
    ]
    cluster.done.clear()

    states.begin(MORE)
    states.begin(COMMON)
    states.begin(MORE)

    assert cluster.done == _steps(MARK, "pytest", MARK)
    assert states.mark == MARK


def test_other_needs_begin_with_what_every_test_finds() -> None:
    cluster = RecordingCluster()
    states = _states(cluster)
    states.begin(MORE)
    cluster.done.clear()

    states.begin(COMMON.joined(Needs(nodes=1)))

    assert cluster.done[:5] == [*_steps("pytest"), "apply here/crd.yaml", "scale node 1"]


def test_a_cluster_that_was_there_is_as_it_was_in_the_end_and_without_marks() -> None:
    cluster = RecordingCluster()
    with borrowed(cluster):
        states = _states(cluster)
        states.begin(MORE)
        cluster.done.clear()
        states.end()
        states.end()

    marks = ["drop pytest", f"drop {MARK}"]
    assert cluster.done == [*marks, "rewind before-pytest", "drop before-pytest"]
