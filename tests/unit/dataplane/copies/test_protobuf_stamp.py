from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from kwokctl.dataplane.copies.json_stamp import Stamp
from kwokctl.dataplane.copies.protobuf_stamp import PREFIX, ProtobufStamp, protobuf_stamp
from kwokctl.dataplane.copies.variable_fields import Copy, Role, Slot, ValueSource
from kwokctl.etcd.protobuf import varint

Fields = Sequence[tuple[int, Any]]
"""Numbers of fields, and their values: numbers, texts, messages, or bytes as they are."""

THEN = 1795255295  # 2026-11-21T10:01:35Z
NOW = 1924992000  # 2031-01-01T00:00:00Z
LATER = Copy(
    serial=7,
    name="n" * 130,
    uid="uid-of-later",
    created="2031-01-01T00:00:00Z",
    host_ips=("2001:db8:1:2:3:4:5:6",),
)

NAME, UID, TIME, HOST = (
    ValueSource(role) for role in (Role.NAME, Role.UID, Role.TIME, Role.HOST_IP)
)
SERIAL = ValueSource(Role.SERIAL, of_serial=lambda serial: f"10.0.{serial}.0/24")
OWN = (
    (NAME, "thing-0"),
    (UID, "uid-of-first"),
    (TIME, "2026-11-21T10:01:35Z"),
    (HOST, "192.0.2.1"),
    (SERIAL, "10.0.0.0/24"),
)


def message(fields: Fields) -> bytes:
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: Any) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    content = value if isinstance(value, bytes) else message(value)
    return varint(number << 3 | 2) + varint(len(content)) + content


def value(metadata: Fields, *rest: tuple[int, Any]) -> bytes:
    """An object as it is in etcd."""
    thing = [(1, metadata), *rest]
    return PREFIX + message([(1, [(1, "v1"), (2, "Thing")]), (2, thing), (3, ""), (4, "")])


def stamp(*own: tuple[ValueSource, Any]) -> Stamp:
    slots: list[bytes | Slot] = []
    for number, (source, text) in enumerate(own):
        slots += [Slot((number,), source, text), b","]
    return Stamp(slots)


def made(metadata: Fields, *rest: tuple[int, Any], own: Sequence[tuple[ValueSource, Any]]) -> bytes:
    found = protobuf_stamp(value(metadata, *rest), stamp(*own))
    assert isinstance(found, ProtobufStamp)
    return found.make(LATER)


def test_texts_and_times_are_a_copy_s_own_and_all_sizes_are_right() -> None:
    def parts(name: str, uid: str, time: int, host: str, cidr: str) -> Fields:
        return [
            (1, [(1, name), (2, ""), (5, uid), (7, 1), (8, [(1, time), (2, 0)])]),
            (2, [(1, cidr), (4, "constant"), (5, [(1, [(1, [(1, 5)])])])]),
            (3, [(5, [(1, "InternalIP"), (2, host)]), (5, [(1, "Hostname"), (2, name)])]),
            (4, [(1, "True"), (3, [(1, time), (2, 0)]), (4, [(1, time), (2, 0)])]),
        ]

    (_, metadata), *rest = parts("thing-0", "uid-of-first", THEN, "192.0.2.1", "10.0.0.0/24")
    (_, copied), *others = parts(LATER.name, LATER.uid, NOW, LATER.host_ips[0], "10.0.7.0/24")

    own = (*OWN, (NAME, "thing-0"), (TIME, OWN[2][1]), (TIME, OWN[2][1]))
    assert made(metadata, *rest, own=own) == value(copied, *others)


@pytest.mark.parametrize("length", [1, 80, 127, 128, 300, 20_000])
def test_a_message_may_grow_beyond_any_size(length: int) -> None:
    found = protobuf_stamp(value([(1, "thing-0")]), stamp((NAME, "thing-0")))
    assert found is not None

    copy = found.make(replace(LATER, name="n" * length))

    assert copy == value([(1, "n" * length)])


def test_managed_fields_that_the_stamp_has_not_are_left_out_and_nothing_else_is() -> None:
    managed = [(1, "kwok"), (7, [(1, '{"f:thing-0":{}}')])]

    copy = made([(1, "thing-0"), (17, managed), (17, managed)], (17, "kept"), own=OWN[:1])

    assert copy == value([(1, LATER.name)], (17, "kept"))


def test_managed_fields_name_the_items_of_the_copy_itself() -> None:
    def managed(host: str, time: int) -> Fields:
        text = f'{{"f:spec":{{"k:{{\\"ip\\":\\"{host}\\"}}":{{".":{{}}}}}}}}'
        return [(1, "kwok"), (4, [(1, time), (2, 0)]), (7, [(1, text)])]

    parts = ('{"f:spec":{"k:{\\"ip\\":', HOST, '}":{".":{}}}}')
    fields: Any = {"f:spec": {'k:{"ip":"192.0.2.1"}': {".": {}}}}
    entry = ("metadata", "managedFields", 0)
    slots = (
        Slot((*entry, "fieldsV1"), ValueSource(Role.FIELDS, parts=parts), fields),
        Slot((*entry, "time"), TIME, OWN[2][1]),
    )

    found = protobuf_stamp(value([(17, managed("192.0.2.1", THEN))]), Stamp(slots))

    assert found is not None
    assert found.make(LATER) == value([(17, managed(LATER.host_ips[0], NOW))])


def test_a_fraction_of_a_second_becomes_none() -> None:
    copy = made([], (2, [(3, [(1, THEN), (2, 123_456_000)])]), own=[(TIME, OWN[2][1])])

    assert copy == value([], (2, [(3, [(1, NOW), (2, 0)])]))


def test_times_of_different_moments_become_one() -> None:
    copy = made(
        [(8, [(1, THEN), (2, 0)])],
        (2, [(1, THEN + 3), (2, 0)]),
        own=[(TIME, OWN[2][1]), (TIME, "2026-11-21T10:01:38Z")],
    )

    assert copy == value([(8, [(1, NOW), (2, 0)])], (2, [(1, NOW), (2, 0)]))


def test_other_times_stay() -> None:
    copy = made([(1, "thing-0")], (2, [(1, THEN + 3), (2, 0)]), own=OWN[:1])

    assert copy == value([(1, LATER.name)], (2, [(1, THEN + 3), (2, 0)]))


def test_numbers_of_fixed_width_are_skipped() -> None:
    fixed = message([(1, "thing-0")]) + b"\x29" + b"\xff" * 8 + b"\x35" + b"\xff" * 4

    copy = made([], (2, fixed), own=OWN[:1])

    assert copy == value([], (2, fixed.replace(b"\x07thing-0", b"\x82\x01" + b"n" * 130)))


def test_a_value_that_is_only_part_of_a_text_is_not_replaced() -> None:
    copy = made([(1, "thing-0"), (2, "a\x07thing-0"), (3, "thing-00")], own=OWN[:1])

    assert copy == value([(1, LATER.name), (2, "a\x07thing-0"), (3, "thing-00")])


@pytest.mark.parametrize(
    ("metadata", "own"),
    [
        ([(1, "other")], [(NAME, "thing-0")]),
        ([(1, "thing-0"), (2, "thing-0")], [(NAME, "thing-0")]),
        ([(1, "thing-0")], [(NAME, "thing-0"), (NAME, "thing-0")]),
        ([(1, "thing-0"), (2, "thing-0")], [(NAME, "thing-0"), (UID, "thing-0")]),
        ([(1, "")], [(NAME, "")]),
        ([(1, 5)], [(SERIAL, 5)]),
        ([(8, [(1, THEN), (2, 0)]), (9, [(1, THEN), (2, 0)])], [(TIME, OWN[2][1])]),
        ([(8, [(1, THEN)])], [(TIME, OWN[2][1])]),
    ],
)
def test_no_stamp_is_made_where_the_places_are_ambiguous(metadata: Fields, own: Any) -> None:
    assert protobuf_stamp(value(metadata), stamp(*own)) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda whole: b'{"kind":"Thing"}',
        lambda whole: whole.removeprefix(PREFIX),
        lambda whole: whole[:-1],
        lambda whole: whole + b"\x80",
        lambda whole: whole + b"\x07",
        lambda whole: whole + b"\x00\x00",
        lambda whole: whole + b"\x08" + b"\xff" * 11,
        lambda whole: b"",
    ],
)
def test_there_is_none_for_other_values(change: Callable[[bytes], bytes]) -> None:
    assert protobuf_stamp(change(value([(1, "thing-0")])), stamp(*OWN[:1])) is None
