"""Parts of API objects at random, built from the types that the product knows."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from kwokctl.json_value import Json

Types = Mapping[str, Mapping[str, str]]

_TEXTS = [
    "",
    "a",
    "Always",
    "two words",
    "grün",
    'a "quote" \\ & <more>\n',
    "x" * 70,
    "\u2028",
    "1",
]
_TIMES = ["2024-02-29T23:59:59Z", "2024-01-01T00:00:00.123456789-11:30", "0001-01-01T00:00:00Z",
          "9998-12-31T23:59:59.9+14:59"]  # fmt: skip
_ADDRESSES = ["10.0.0.1", "fd00::1", "255.255.255.255", "::"]

RIGHT: Mapping[str, list[Json]] = {
    "str": _TEXTS,
    "bool": [True, False],
    "int32": [0, 1, -1, 2**31 - 1, -(2**31)],
    "int64": [0, 1, -1, 2**63 - 1, -(2**63)],
    "Time": _TIMES,
    "Quantity": [
        "0", "1.", ".5", "-1", "+1.5", "100m", "5n", "5u", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki",
        "1Mi", "1.5Gi", "1Ti", "1Pi", "9Ei", "1e3", "1E-9", "1e+99", "9" * 18, f"{'9' * 18}Ei", 1, 0,
        -3, 1.5, 1e-9, 10**15,
    ],
    "Address": _ADDRESSES,
    "AddressIfAny": ["", *_ADDRESSES],
}  # fmt: skip
"""Values of every leaf, with those at its limits."""

ODD: list[Json] = [
    None, True, 0, 1, -1, 1.0, 1.5, 1e15, 1e300, 2**31, 2**63, 2**64, -(2**63) - 1, "", " ", "a",
    [], {}, [None], [1], ["a"], {"a": None}, {"a": 1}, {"a": "b"}, {"name": 1}, [{"name": "a"}],
    [{}], "1O", "1e", "1 Gi", " 1", "1e1000", "1K", "0x1", "1_0", "--1", ".", "9" * 30, "1mm", "٣",
    "2023-02-29T00:00:00Z", "2024-01-01", "2024-01-01 00:00:00Z", "2024-01-01t00:00:00z",
    "2024-01-01T24:00:00Z", "2024-01-01T00:00:60Z", "2024-01-01T00:00:00", "0000-01-01T00:00:00Z",
    "2024-01-01T00:00:00,5Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00.000000Z",
    "2024-01-01T00:00:00.12345Z", "2024-01-01T00:00:00+0100", "9999-12-31T23:59:59-14:00",
    "10.0.0.256", "010.0.0.1", "::1%a", "10.0.0.1/24", "10.0.0.0/33",
]  # fmt: skip
"""Values that many fields do not take."""


def random_object(random: Random, types: Types, name: str) -> dict[str, Json]:
    """Return an object of a type; each of its leaves has a right value."""
    return _struct(random, types, name, 1.0)


def places(value: Json) -> Iterator[tuple[Any, Any]]:
    """Yield every container in a value with each key or index it has."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def _struct(random: Random, types: Types, name: str, share: float) -> dict[str, Json]:
    """Return some fields of a type, fewer the deeper they lie."""
    fields = types[name]
    many = round(len(fields) * share * random.uniform(0.3, 1))
    chosen = set(random.sample(list(fields), max(many, min(len(fields), 1))))
    return {field: _value(random, types, fields[field], share * 0.75) for field in chosen}


def _value(random: Random, types: Types, word: str, share: float) -> Json:
    if random.random() < 0.03:
        return None
    inner = word.strip("[]{}")
    match word[0]:
        case "[":
            return [_item(random, types, inner, share) for _ in range(random.randint(0, 2))]
        case "{":
            keys = random.sample(["cpu", "memory", "a", "example.com/b"], random.randint(0, 3))
            return {key: _item(random, types, inner, share) for key in keys}
        case _:
            return _item(random, types, word, share)


def _item(random: Random, types: Types, word: str, share: float) -> Json:
    if word in RIGHT:
        return random.choice(RIGHT[word])
    made = _struct(random, types, word, share)
    if word == "NodeAddress" and made.get("type") in {"InternalIP", "ExternalIP"}:
        made["address"] = random.choice(_ADDRESSES)
    return made
