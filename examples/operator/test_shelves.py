"""What the operator does, and that a rewind does not confuse it.

pytest examples/operator
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from shelf_operator import Operator

from kwokctl import Cluster
from kwokctl.errors import ApiError
from kwokctl.json_value import Json

Paused = Callable[[], AbstractContextManager[None]]
pytestmark = pytest.mark.kwok(webhooks="config/webhooks.yaml")
SHELF = {"apiVersion": "example.com/v1", "kind": "Shelf", "metadata": {"name": "oak"}}
OLD = SHELF | {"apiVersion": "example.com/v1beta1"}


def shelf(books: int) -> dict[str, Json]:
    return SHELF | {"spec": {"books": books}}


def wait_for_books(kwok: Cluster, number: int) -> list[str]:
    books = kwok.wait_for("configmaps", selector="shelf=oak", count=number)
    return sorted(book["metadata"]["name"] for book in books)


def test_a_shelf_has_as_many_books_as_its_spec_says(kwok: Cluster) -> None:
    kwok.apply(shelf(5))
    wait_for_books(kwok, 5)

    kwok.apply(shelf(2))

    wait_for_books(kwok, 2)


def test_the_next_test_finds_no_shelf(kwok: Cluster, operator: Operator) -> None:
    assert kwok.find("shelves") == []
    assert kwok.find("configmaps", selector="shelf") == []
    assert operator.shelves.objects == operator.books.objects == {}


def test_a_webhook_gives_a_shelf_the_usual_number_of_books(kwok: Cluster) -> None:
    [stored] = kwok.apply(SHELF)

    assert stored["spec"] == {"books": 3}
    wait_for_books(kwok, 3)


def test_a_webhook_refuses_more_books_than_fit(kwok: Cluster) -> None:
    with pytest.raises(ApiError, match="101 books do not fit on a shelf"):
        kwok.apply(shelf(101))


def test_a_webhook_converts_shelves_of_the_former_version(kwok: Cluster) -> None:
    [stored] = kwok.apply(OLD | {"spec": {"count": 4}})

    assert stored["spec"] == {"count": 4}
    assert kwok.get("shelf/oak")["spec"] == {"books": 4}
    wait_for_books(kwok, 4)


@pytest.fixture
def emptied(kwok: Cluster, operator: Operator) -> Iterator[list[str]]:
    """Mark the cluster with three books on a shelf, and let the operator take them away.

    Its watch of books then falls behind that of shelves.
    """
    operator.actions.clear()
    kwok.apply(shelf(3))
    names = wait_for_books(kwok, 3)
    operator.wait_until(lambda: len(operator.actions) == 3)
    kwok.mark("full", rest=0.5)
    kwok.apply(shelf(0))
    operator.wait_until(lambda: len(operator.actions) == 6)
    operator.books.fall_behind()
    operator.actions.clear()
    yield names
    operator.books.catch_up()
    kwok.drop("full")


@pytest.mark.usefixtures("emptied")
def test_without_a_pause_the_operator_acts_on_what_no_longer_holds(
    kwok: Cluster, operator: Operator
) -> None:
    kwok.rewind("full")

    operator.wait_until(lambda: len(operator.actions) >= 3)
    assert all(action.startswith("added default/oak-") for action in operator.actions[:3])


def test_with_a_pause_it_finds_all_as_it_was(
    kwok: Cluster, operator: Operator, kwok_paused: Paused, emptied: list[str]
) -> None:
    kwok.rewind("full", paused=kwok_paused)

    operator.wait_until(lambda: "default/oak" in operator.seen)
    assert operator.actions == []
    assert not kwok.changes("full")
    assert wait_for_books(kwok, 3) == emptied
