"""What a condition means for an object."""

import pytest

from kwokctl.clusters.objects.conditions import in_words, predicate
from kwokctl.errors import ExpressionError, UsageError

READY = {
    "metadata": {"name": "a"},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("exists", True),
        ("Ready", True),
        ("ready=true", True),
        ("Ready=False", False),
        ("Available", False),
        ('.status.phase == "Running"', True),
        (".status.replicas == 3", False),
        (".status.conditions | length == 1", True),
        (".spec.none.at.all", False),
    ],
)
def test_words_say_how_an_object_is_to_be(condition: str, holds: bool) -> None:
    assert predicate(condition)(READY) is holds


def test_an_object_without_a_status_fulfils_no_condition() -> None:
    assert not predicate("Ready")({"metadata": {}, "status": None})


def test_a_function_decides_by_itself() -> None:
    def is_called_a(obj: object) -> bool:
        return obj == READY

    assert predicate(is_called_a)(READY)
    assert in_words(is_called_a) == "is_called_a"
    assert in_words(lambda _: True) == "as wanted"
    assert in_words("Ready") == "'Ready'"


def test_what_is_no_condition_is_refused() -> None:
    with pytest.raises(UsageError, match="'is ready' is not a condition"):
        predicate("is ready")
    with pytest.raises(ExpressionError):
        predicate(".status[")
