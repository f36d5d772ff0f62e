""""""

import pytest

from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult
from kwokctl.errors import UsageError


def test_a_set_is_called_like_its_template_unless_named() -> None:
    assert ScaleRequest(kind="node").set_name == "node"
    assert ScaleRequest(kind="node", name="gpu").set_name == "gpu"
    assert ScaleRequest(kind="node", name="gpu").selector == "kwok.x-k8s.io/kwokctl-scale=gpu"


def test_a_serial_is_padded_and_grows_when_it_must() -> None:
    assert ScaleRequest(kind="node").object_name(7) == "node-000007"
    assert ScaleRequest(kind="node", serial_length=1).object_name(123) == "node-123"


def test_no_serial_gives_the_bare_name() -> None:
    assert ScaleRequest(kind="pod", name="web", serial_length=0).object_name(0) == "web"


def test_no_serial_is_for_one_object_only() -> None:
    with pytest.raises(UsageError, match="--serial-length 0 gives one bare name"):
        ScaleRequest(kind="pod", serial_length=0, replicas=2)


@pytest.mark.parametrize(
    "wrong",
    [{"replicas": -1}, {"replicas": 10**20}, {"serial_length": -1}, {"serial_length": 21}],
)
def test_numbers_that_mean_nothing_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        ScaleRequest(kind="pod", **wrong)  # type: ignore[arg-type]  # numbers only


@pytest.mark.parametrize("name", ["Node", "a_b", "-a", "a-", "a/b", "a" * 64])
def test_a_name_that_cannot_be_a_label_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a set of objects"):
        ScaleRequest(kind="pod", name=name)


def test_a_number_in_place_of_a_name_is_refused_with_what_was_probably_meant() -> None:
    with pytest.raises(UsageError, match="'10' is a number") as caught:
        ScaleRequest(kind="node", name="10")

    assert caught.value.hint == "for 10 objects: kwokctl scale node --replicas 10"


@pytest.mark.parametrize("name", ["../kube-system", "default/pods", "", ".", "A", "a.b", "a" * 64])
def test_a_namespace_that_cannot_be_one_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a namespace"):
        ScaleRequest(kind="pod", namespace=name)


def test_a_serial_is_read_back_from_the_name_that_it_gives() -> None:
    request = ScaleRequest(kind="pod", serial_length=3)

    assert [request.serial_of(f"pod-{text}") for text in ("007", "1234")] == [7, 1234]
    wrong = ("7", "0007", "x", "", "\u0660\u0660\u0667")
    assert {request.serial_of(f"pod-{text}") for text in wrong} == {None}
    assert request.serial_of("other-007") is None
    assert ScaleRequest(kind="pod", serial_length=0).serial_of("pod") == 0


def test_a_result_shows_whether_anything_changed() -> None:
    assert ScaleResult(kind="Node", name="node", existing=3).is_unchanged
    assert not ScaleResult(kind="Node", name="node", created=1).is_unchanged
    assert not ScaleResult(kind="Node", name="node", deleted=1).is_unchanged
