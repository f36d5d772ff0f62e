"""The same copies as `json_stamp` makes, as protocol buffers: what the API server itself puts into etcd.

They are smaller than JSON, and read faster. Nothing is known of their types: the value of the
object that copies are made of is split where its own texts and times occur in it.
"""

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache, partial
from itertools import count
from operator import itemgetter

import orjson

from kwokctl.dataplane.copies import message_template
from kwokctl.dataplane.copies.json_stamp import Stamp
from kwokctl.dataplane.copies.message_template import ContentPlace, Message, NoMessageError
from kwokctl.dataplane.copies.variable_fields import MANAGED_FIELDS, Copy, Role, ValueSource
from kwokctl.etcd.protobuf import LENGTH, sized, tag, varint
from kwokctl.expr.duration import parse_time

PREFIX = b"k8s\x00"
"""What such a value begins with; a `runtime.Unknown` of Kubernetes follows."""

_RAW = 2
"""The field of an Unknown that holds the object."""
_METADATA = 1
"""The field of every object with metadata."""
_VERSION = 6
"""The field of metadata for the resourceVersion, which is etcd's to give."""
_MANAGED_FIELDS = 17
"""The field of metadata that copies have if the stamp has it."""

_TIME = ValueSource(Role.TIME)

_REMEMBERED = 1024
"""Combinations of lengths: numbers in names and addresses have some digits more or less."""


class ProtobufStamp:
    """Makes the copies of an object.

    A message has its size before it, and with it the sizes of all that it is in. They depend on
    the lengths of the values only, which many copies share: what is between the
    values is made once for each combination of lengths.
    """

    __slots__ = ("_between", "_pick", "_readers")

    def __init__(self, unknown: Message) -> None:
        """Make copies of an Unknown that has been taken apart."""
        sources = dict.fromkeys(place.source for place in unknown.places())
        positions = {source: number for number, source in enumerate(sources)}
        self._readers = [_reader(source) for source in sources]
        self._between = lru_cache(maxsize=_REMEMBERED)(partial(_between, unknown, positions))
        constants = count(len(sources))
        picked = [next(constants)]
        for place in unknown.places():
            picked += positions[place.source], next(constants)
        self._pick = itemgetter(*picked)

    def make(self, copy: Copy) -> bytes:
        """Return the value of a copy."""
        values = [read(copy) for read in self._readers]
        return b"".join(self._pick(values + self._between(tuple(map(len, values)))))


def protobuf_stamp(value: bytes, stamp: Stamp) -> ProtobufStamp | None:
    """Return a stamp that makes the copies of `stamp`, from the value in etcd of the same object.

    The value may also be what the API server answers when it is asked for protocol buffers.
    None if that is not certain: for values that are not protocol buffers, and where what
    differs between copies does not occur there as often as in the JSON.
    """
    try:
        unknown = _kept(value, stamp)
        message = message_template.apart(unknown, _finder(stamp))
    except NoMessageError:
        return None
    found = Counter(place.source for place in message.places())
    wanted = Counter(_of_any_form(slot.source) for slot in stamp.slots)
    return ProtobufStamp(message) if found == wanted else None


def _finder(stamp: Stamp) -> Callable[[bytes], ValueSource | None]:
    """Return a template of contents that differ between copies; NoMessageError if they look alike."""
    texts: dict[bytes, ValueSource] = {}
    seconds = set()
    for slot in stamp.slots:
        if slot.source.role is Role.TIME:
            seconds.add(int(parse_time(slot.value)))
        elif slot.source.role is Role.FIELDS:
            texts[orjson.dumps(slot.value)] = slot.source
        elif not isinstance(slot.value, str) or not slot.value:
            raise NoMessageError  # a number, or an empty content, occurs in many places
        elif texts.setdefault(slot.value.encode(), slot.source) != slot.source:
            raise NoMessageError

    def source_of(content: bytes) -> ValueSource | None:
        return _TIME if message_template.seconds_of(content) in seconds else texts.get(content)

    return source_of


def _kept(value: bytes, stamp: Stamp) -> bytes:
    """Return the Unknown in a value as it goes to etcd: the API server fills in the rest."""
    has_managers = any(slot.path[:2] == MANAGED_FIELDS for slot in stamp.slots)
    dropped = {_VERSION} if has_managers else {_VERSION, _MANAGED_FIELDS}
    if not value.startswith(PREFIX):
        raise NoMessageError
    return _within(value[len(PREFIX) :], (_RAW, _METADATA), dropped)


def _within(data: bytes, path: tuple[int, ...], dropped: Container[int]) -> bytes:
    """Return a message without some of the fields of the one that a path of fields leads to."""
    parts: list[bytes] = []
    for field in message_template.fields(data):
        if path and field.number == path[0]:
            inner = _within(data[field.content : field.end], path[1:], dropped)
            parts.append(sized(tag(field.number, LENGTH), inner))
        elif path or field.number not in dropped:
            parts.append(data[field.start : field.end])
    return b"".join(parts)


def _of_any_form(source: ValueSource) -> ValueSource:
    return _TIME if source.role is Role.TIME else source


def _reader(source: ValueSource) -> Callable[[Copy], bytes]:
    """Return the function that gives the content for a copy."""
    if source == _TIME:
        return lambda copy: _time(copy.created)
    of_serial = source.of_serial
    if of_serial is not None:  # most are, and reading them is most of what a copy costs
        return lambda copy: of_serial(copy.serial).encode()
    read = source.reader()
    return lambda copy: read(copy).encode()


@lru_cache(maxsize=64)
def _time(created: str) -> bytes:
    return message_template.time(int(parse_time(created)))


def _between(
    unknown: Message, positions: Mapping[ValueSource, int], lengths: Sequence[int]
) -> list[bytes]:
    """Return the bytes before, between and after values of these lengths."""
    constants = [PREFIX]
    for piece in _pieces(unknown, positions, lengths):
        if isinstance(piece, bytes):
            constants[-1] += piece
        else:
            constants.append(b"")
    return constants


def _pieces(
    message: Message, positions: Mapping[ValueSource, int], lengths: Sequence[int]
) -> list[bytes | int]:
    """Return a message in pieces, a position in place of each value."""
    pieces: list[bytes | int] = []
    for part in message.parts:
        if isinstance(part, bytes):
            pieces.append(part)
        elif isinstance(part, ContentPlace):
            position = positions[part.source]
            pieces += varint(lengths[position]), position
        else:
            inner = _pieces(part, positions, lengths)
            sizes = (len(p) if isinstance(p, bytes) else lengths[p] for p in inner)
            pieces += varint(sum(sizes)), *inner
    return pieces
