from typing import Any

import msgspec
import pytest

from kwokctl.kube.statuses.checking import TYPES
from kwokctl.kube.statuses.leaves import LEAVES
from kwokctl.kube.statuses.table import Structs, read_tables

FIRST = """\
Inner a:str b:[int32]
Outer kind:str inner:Inner
    inners:[Inner] texts:{str}
"""
SECOND = """\
Other outer:Outer
"""


def decode(name: str, raw: bytes, **checks: Any) -> Any:
    structs = Structs(read_tables(FIRST, SECOND), checks)
    return msgspec.to_builtins(msgspec.json.decode(raw, type=structs.struct(name)))


def test_a_table_is_read_line_by_line_with_what_is_indented() -> None:
    assert read_tables(FIRST, SECOND) == {
        "Inner": {"a": "str", "b": "[int32]"},
        "Outer": {"kind": "str", "inner": "Inner", "inners": "[Inner]", "texts": "{str}"},
        "Other": {"outer": "Outer"},
    }


def test_fields_may_be_missing_or_null() -> None:
    assert decode("Inner", b'{"a":null}') == {"a": None, "b": None}


def test_types_contain_each_other_in_lists_and_maps() -> None:
    raw = b'{"outer":{"kind":"Outer","inners":[{"b":[1]}],"texts":{"x":"y"}}}'

    outer = decode("Other", raw)["outer"]

    assert outer["inners"] == [{"a": None, "b": [1]}]
    assert outer["texts"] == {"x": "y"}


@pytest.mark.parametrize(
    "raw", [b'{"kind":1}', b"[]", b'{"kind":"Outer","inner":[]}', b'{"kind":"Outer","x":1}']
)
def test_what_is_not_in_the_table_is_refused(raw: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode("Outer", raw)


def test_a_check_looks_at_the_whole_value() -> None:
    def refuse(value: Any) -> None:
        if value.a == "wrong":
            raise ValueError("no")

    assert decode("Inner", b'{"a":"right"}', Inner=refuse)["a"] == "right"
    with pytest.raises(msgspec.ValidationError, match="no"):
        decode("Inner", b'{"a":"wrong"}', Inner=refuse)


def test_every_type_of_a_field_is_in_the_tables_and_none_is_unused() -> None:
    words = {word.strip("[]{}") for fields in TYPES.values() for word in fields.values()}
    leaves = {leaf.__name__ for leaf in LEAVES}
    structs = {word for word in words if word[0].isupper()} - leaves

    assert structs | {"NodeStatus", "PodStatus"} == TYPES.keys()
