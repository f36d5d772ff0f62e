""""""

import pytest

from kwokctl.config.patches.patch import ComponentPatch
from kwokctl.config.patches.patch_reader import patches_of
from kwokctl.errors import UsageError


def test_extra_args_are_read_by_component() -> None:
    words = ["kube-scheduler=v=4", "kube-scheduler=--config=a=b", "etcd=debug"]

    assert patches_of(words, ["etcd", "kube-scheduler"]) == {
        "kube-scheduler": ComponentPatch(name="kube-scheduler", args={"v": "4", "config": "a=b"}),
        "etcd": ComponentPatch(name="etcd", args={"debug": None}),
    }


def test_a_key_that_ends_in_a_dash_takes_an_argument_away() -> None:
    words = ["etcd=quota-backend-bytes-", "etcd=name=a-"]

    assert patches_of(words, ["etcd"]) == {
        "etcd": ComponentPatch(
            name="etcd", args={"name": "a-"}, removed=frozenset({"quota-backend-bytes"})
        )
    }


@pytest.mark.parametrize(
    ("words", "args", "removed"),
    [
        (["etcd=a=1", "etcd=a-"], {}, {"a"}),
        (["etcd=a-", "etcd=a=1"], {"a": "1"}, set()),
    ],
)
def test_of_an_argument_and_its_removal_the_later_counts(
    words: list[str], args: dict[str, str], removed: set[str]
) -> None:
    found = patches_of(words, ["etcd"])["etcd"]

    assert found.args == args
    assert found.removed == removed


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("nothing", "for example: --extra-args kube-scheduler=v=4"),
        ("kube-schedler=v=4", "did you mean 'kube-scheduler'?"),
        ("=v=4", "for example: --extra-args kube-scheduler=v=4"),
    ],
)
def test_a_malformed_extra_argument_is_refused_with_the_remedy(word: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        patches_of([word], ["kube-scheduler"])

    assert caught.value.hint == hint
