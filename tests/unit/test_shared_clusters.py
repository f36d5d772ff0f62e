"""Modules find a shared cluster as it was made, also after one that has broken it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.installed import Finished, Installed
from tests.support.shared_clusters import SHARED, SharedClusters, in_turn


class Noting(Installed):
    """Notes the commands that it would run."""

    noted: list[str]
    is_broken = False
    is_gone = False
    refuses = ""

    def called(self, name: str) -> "Noting":
        return self

    def ok(self, *words: str, stdin: str = "", timeout: float = 300) -> str:
        self.noted.append(" ".join(words[:2]))
        return ""

    def run(self, *words: str, stdin: str = "", timeout: float = 300, **settings: str) -> Finished:
        self.noted.append(" ".join(words[:2]))
        return Finished(int(self.refuses in self.noted[-1] and bool(self.refuses)), "", "")

    def exists(self) -> bool:
        return not self.is_gone

    def statuses(self) -> set[str]:
        return {"Ready", "Failed"} if self.is_broken else {"Ready"}


class Made:
    """Makes clusters, and counts those that are there."""

    def __init__(self, folder: Path) -> None:
        self.present: list[Noting] = []
        self.all: list[Noting] = []
        self._folder = folder

    @contextmanager
    def __call__(self) -> Iterator[Installed]:
        cluster = Noting(folder=self._folder)
        object.__setattr__(cluster, "noted", [])
        self.present.append(cluster)
        self.all.append(cluster)
        yield cluster
        self.present.remove(cluster)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def use(shared: SharedClusters, name: str, *, rewound: bool = True) -> None:
    with shared.used(name, rewound=rewound):
        pass


def test_a_cluster_is_marked_once_and_rewound_for_each_module_that_follows(made: Made) -> None:
    shared = SharedClusters(made)

    use(shared, "with_faults")
    use(shared, "with_faults")

    [cluster] = made.present
    rewind = "snapshot rewind"
    assert cluster.noted == ["create cluster", "snapshot mark", rewind]


def test_the_next_cluster_replaces_the_one_before(made: Made) -> None:
    shared = SharedClusters(made)

    use(shared, "with_faults")
    use(shared, "as_on_kubelets")

    assert len(made.all) == 2
    assert made.present == made.all[1:]
    shared.close()
    assert made.present == []


def test_modules_that_tidy_up_by_themselves_need_no_rewind(made: Made) -> None:
    shared = SharedClusters(made)

    use(shared, "storage", rewound=False)
    use(shared, "storage", rewound=False)

    [cluster] = made.present
    assert cluster.noted == ["create cluster"]


@pytest.mark.parametrize(
    "broken", [{"is_broken": True}, {"is_gone": True}, {"refuses": "snapshot rewind"}]
)
def test_a_cluster_that_a_module_has_broken_is_not_used_again(
    made: Made, broken: dict[str, object]
) -> None:
    shared = SharedClusters(made)
    with shared.used("with_faults"):
        for name, value in broken.items():
            object.__setattr__(made.all[0], name, value)

    use(shared, "with_faults")

    assert len(made.all) == 2
    assert made.present == made.all[1:]


class Item:
    """A test as pytest knows it."""

    def __init__(self, path: str, *fixtures: str) -> None:
        self.path, self.fixturenames = Path(path), fixtures


def test_modules_that_share_follow_each_other_and_keep_their_order() -> None:
    one, other = list(SHARED)[:2]
    items = [
        Item("a", other), Item("b"), Item("c", one), Item("d", other), Item("c"), Item("e", one),
    ]  # fmt: skip

    found = in_turn(items)

    assert [str(each.path) for each in found] == ["b", "c", "c", "e", "a", "d"]


def test_tests_of_a_module_go_with_the_clusters_that_they_use() -> None:
    one, other = list(SHARED)[:2]
    items = [Item("a", one), Item("b", other), Item("b"), Item("b", one), Item("c", other)]

    found = in_turn(items)

    assert [items.index(each) for each in found] == [0, 3, 1, 2, 4]
