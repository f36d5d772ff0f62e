from typing import Any

import pytest

from kwokctl.kube.patching.field_sets import compare, difference, union
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

KEYS = {"items": "name"}


FIELDS: Any = {
    "f:a": {".": {}, "f:b": {}, 'k:{"name":"x"}': {".": {}, "f:c": {"f:d": {}}}},
    "f:e": {"f:f": {}},
    "f:g": {},
}


def written(before: Any, after: Any) -> Any:
    return compare(before, after, KEYS).written


def removed(before: Any, after: Any) -> Any:
    return compare(before, after, KEYS).removed


@pytest.mark.parametrize(
    ("second", "joined"),
    [
        ({}, {}),
        ({"f:h": {"f:i": {}}}, {"f:h": {"f:i": {}}}),
        ({"f:e": {}}, {"f:e": {".": {}, "f:f": {}}}),
        ({"f:g": {"f:h": {}}}, {"f:g": {".": {}, "f:h": {}}}),
        ({"f:e": {"f:h": {}}}, {"f:e": {"f:f": {}, "f:h": {}}}),
        ({"f:g": {}}, {}),
    ],
)
def test_a_union_has_the_fields_of_both(second: Any, joined: Any) -> None:
    assert union(FIELDS, second) == {**FIELDS, **joined}


@pytest.mark.parametrize(
    ("second", "left"),
    [
        ({}, {}),
        ({"f:h": {}}, {}),
        ({"f:g": {}}, {"f:g": None}),
        ({"f:g": {"f:h": {}}}, {}),
        ({"f:e": {}}, {}),
        ({"f:e": {"f:f": {}}}, {"f:e": None}),
        ({"f:e": {".": {}, "f:f": {"f:x": {}}}}, {}),
        (
            {"f:a": {}},
            {"f:a": {"f:b": {}, 'k:{"name":"x"}': {".": {}, "f:c": {"f:d": {}}}}},
        ),
        (
            {"f:a": {"f:b": {}, 'k:{"name":"x"}': {"f:c": {"f:d": {}}}}},
            {"f:a": {".": {}, 'k:{"name":"x"}': {}}},
        ),
    ],
)
def test_a_difference_has_the_fields_of_the_first_alone(second: Any, left: Any) -> None:
    wanted = {**FIELDS, **left}

    assert difference(FIELDS, second) == {k: v for k, v in wanted.items() if v is not None}


def test_what_is_new_or_has_another_value_is_written() -> None:
    assert written({"a": 1, "b": 1, "same": [1]}, {"a": 2, "c": [3], "same": [1]}) == {
        "f:a": {},
        "f:c": {},
    }


def test_what_is_not_there_any_more_is_removed() -> None:
    assert removed({"a": {"b": 1}, "c": 1}, {"c": 1}) == {"f:a": {".": {}, "f:b": {}}}


def test_a_new_map_is_a_field_beside_those_in_it() -> None:
    assert written({}, {"a": {"b": 1}}) == {"f:a": {".": {}, "f:b": {}}}
    assert written({"a": {}}, {"a": {"b": 1}}) == {"f:a": {"f:b": {}}}


def test_empty_and_null_are_values() -> None:
    assert written({"a": {}}, {"a": None}) == {"f:a": {}}
    assert written({"a": None}, {"a": {"b": 1}}) == {"f:a": {"f:b": {}}}
    assert written({}, {"a": {}}) == {"f:a": {}}


def test_a_list_without_keys_is_one_value() -> None:
    assert written({"list": [{"a": 1}]}, {"list": [{"a": 2}]}) == {"f:list": {}}


def test_items_are_compared_by_their_keys() -> None:
    before = {"items": [{"name": "a", "on": 1}, {"name": "b", "on": 1}]}
    after = {"items": [{"name": "c"}, {"name": "a", "on": 2}]}

    assert written(before, after) == {
        "f:items": {
            'k:{"name":"a"}': {"f:on": {}},
            'k:{"name":"c"}': {".": {}, "f:name": {}},
        }
    }
    assert removed(before, after) == {
        "f:items": {'k:{"name":"b"}': {".": {}, "f:name": {}, "f:on": {}}}
    }


def test_several_items_of_one_key_are_one_value() -> None:
    one, two = {"name": "a", "on": 1}, {"name": "a", "on": 2}
    several: Any = {"f:items": {'k:{"name":"a"}': {}}}
    single: Any = {"f:items": {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:on": {}}}}

    assert written({"items": [one, two]}, {"items": [two, one]}) == several
    assert written({"items": [one, two]}, {"items": [one, two]}) == {}
    assert written({"items": [one]}, {"items": [one, two]}) == several
    assert removed({"items": [one]}, {"items": [one, two]}) == single
    assert written({"items": [one, two]}, {"items": [one]}) == single
    assert removed({"items": [one, two]}, {"items": [one]}) == several
    assert removed({"items": [one, two]}, {"items": [{"name": "b"}]}) == several


def test_an_item_without_its_key_is_for_the_api_server() -> None:
    with pytest.raises(UnknownPatchError, match="no 'name'"):
        compare({}, {"items": [{"on": 1}]}, KEYS)
