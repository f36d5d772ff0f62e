"""Makes the copies of `json_stamp` as protocol buffers, as the API server itself stores objects.

They are smaller than JSON and read faster. The message types are not known here: the stored value of
the copied object is split wherever the object's own texts and times occur in it.
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
"""The prefix of such a value; a `runtime.Unknown` of Kubernetes follows."""

_RAW = 2
"""The field of an Unknown that holds the object."""
_METADATA = 1
"""The field of every object with metadata."""
_VERSION = 6
"""The field of metadata for the resourceVersion, which etcd determines."""
_MANAGED_FIELDS = 17
"""The field of metadata for managed fields, which copies have if the stamp has it."""

_TIME = ValueSource(Role.TIME)

_REMEMBERED = 1024
"""The most combinations of lengths that are cached: numbers in names and addresses vary in digits."""


class ProtobufStamp:
    """Makes the copies of an object.

    Each message has its size before it. The sizes depend on the lengths of the values only, which many
    copies share: the bytes between the values are made once for each combination of lengths.
    """

    __slots__ = ("_between", "_pick", "_readers")

    def __init__(self, unknown: Message) -> None:
        """Make copies of an Unknown that has been split at its places."""
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
    """Return a stamp that makes the copies of `stamp` as protocol buffers; None if that is not certain.

    `value` is the same object as etcd stores it, or as the API server answers a request for protocol
    buffers. It is not certain for values of another encoding, and where the values that differ between
    copies do not occur as often as in the JSON.
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
    """Return a lookup from contents to their sources; NoMessageError if two sources look alike."""
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
    """Return a message in which the message at `path`, a path of field numbers, lacks the `dropped` fields."""
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
    """Return the function that encodes a source's content for a copy."""
    if source == _TIME:
        return lambda copy: _time(copy.created)
    of_serial = source.of_serial
    if of_serial is not None:  # most sources are, and reading them takes most of a copy's time
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
    """Return a message in pieces, with a position in place of each value."""
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
