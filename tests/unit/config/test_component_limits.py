""""""

import pytest

from kwokctl.config.component_limits import parse_limits
from kwokctl.errors import UsageError
from kwokctl.model import Limits
from tests.support.options import cluster_options

KNOWN = ("etcd", "kube-apiserver", "kwok-controller")
GIBI = 1024**3


def limits(memory: tuple[str, ...] = (), cpus: tuple[str, ...] = ()) -> dict[str, Limits]:
    options = cluster_options(memory_limit=memory, cpu_limit=cpus)
    return dict(parse_limits(options, KNOWN, spared=("kwok-controller",)))


def test_without_limits_nothing_is_limited() -> None:
    assert limits() == {}


def test_a_limit_without_a_name_is_for_each_but_the_spared() -> None:
    assert limits(("1Gi",)) == {
        "etcd": Limits(memory=GIBI),
        "kube-apiserver": Limits(memory=GIBI),
    }


def test_a_named_limit_wins_over_that_for_each_wherever_it_stands() -> None:
    found = limits(("etcd=2Gi", "1Gi"), ("0.5", "kwok-controller=2"))

    assert found["etcd"] == Limits(memory=2 * GIBI, cpus=0.5)
    assert found["kube-apiserver"] == Limits(memory=GIBI, cpus=0.5)
    assert found["kwok-controller"] == Limits(cpus=2)


@pytest.mark.parametrize("word", ["much", "etcd=", "1", "etcd=-1Gi"])
def test_what_is_no_amount_of_memory_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="--memory-limit"):
        limits((word,))


@pytest.mark.parametrize("word", ["two", "0", "-1", "nan", "inf", "etcd="])
def test_what_is_no_number_of_processors_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="--cpu-limit"):
        limits((), (word,))


def test_an_unknown_component_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="'etdc'") as caught:
        limits(("etdc=1Gi",))

    assert "etcd" in str(caught.value.hint)
