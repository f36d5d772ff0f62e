"""The same copies as `stamp` makes, as protocol buffers: what the API server itself puts into etcd.

They are smaller than JSON, and read faster. Nothing is known of their types: the value of the
object that copies are made of is taken apart where its own texts and times stand in it.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from operator import itemgetter

import orjson

from kwokctl.dataplane.copies import message_template
from kwokctl.dataplane.copies.json_stamp import Stamp
from kwokctl.dataplane.copies.message_template import ContentPlace, Message, NoMessageError, Part
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
_TIME_SIZE = len(sized(b"", message_template.time(2**30)))
"""Bytes of a time between the years 1978 and 3058."""


class ProtobufStamp:
    """Makes the copies of an object."""

    __slots__ = ("_picks", "_readers", "_rest")

    def __init__(self, unknown: Message) -> None:
        """Make copies of an Unknown that has been taken apart."""
        sources = dict.fromkeys(place.source for place in unknown.places())
        self._readers = [_reader(source) for source in sources]
        joiner = _Joiner(sources, unknown)
        self._picks = joiner.picks
        self._rest = [b""] * len(joiner.picks) + joiner.constants

    def make(self, copy: Copy) -> bytes:
        """Return the value of a copy."""
        values = [read(copy) for read in self._readers] + self._rest
        body = b""
        for at, pick in enumerate(self._picks, start=len(self._readers)):
            body = b"".join(pick(values))
            values[at] = sized(b"", body)
        return PREFIX + body


def protobuf_stamp(value: bytes, stamp: Stamp) -> ProtobufStamp | None:
    """Return what makes the same copies as `stamp`, from the value in etcd of the same object.

    The value may also be what the API server answers when it is asked for protocol buffers.
    None if that cannot be told for sure: for values that are not protocol buffers, and where what
    differs between copies does not stand there just as often as in the JSON.
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
    """Return what tells contents that differ between copies; NoMessageError if they look alike."""
    texts: dict[bytes, ValueSource] = {}
    seconds = set()
    for slot in stamp.slots:
        if slot.source.role is Role.TIME:
            seconds.add(int(parse_time(slot.value)))
        elif slot.source.role is Role.FIELDS:
            texts[orjson.dumps(slot.value)] = slot.source
        elif not isinstance(slot.value, str) or not slot.value:
            raise NoMessageError  # a number, or nothing at all, stands in many places
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
    """Return what gives the content for a copy, with its size."""
    if source == _TIME:
        return lambda copy: _time(copy.created)
    read = source.reader()
    return lambda copy: sized(b"", read(copy).encode())


@lru_cache(maxsize=64)
def _time(created: str) -> bytes:
    return sized(b"", message_template.time(int(parse_time(created))))


class _Joiner:
    """Finds out what is to be joined, one message after the other, the inner ones first.

    Joined are values by their positions: of the sources, then of the messages, then what is
    constant.
    """

    def __init__(self, sources: Iterable[ValueSource], unknown: Message) -> None:
        self.constants: list[bytes] = []
        self.picks: list[Callable[[Sequence[bytes]], Sequence[bytes]]] = []
        self._positions = {source: number for number, source in enumerate(sources)}
        self._messages = count(len(self._positions))
        self._constants = count(len(self._positions) + _messages_in(unknown))
        self._message(unknown)

    def _message(self, message: Message) -> int:
        picked = [self._part(part) for part in _smoothed(message)]
        self.picks.append(itemgetter(*picked))
        return next(self._messages)

    def _part(self, part: Part) -> int:
        if isinstance(part, ContentPlace):
            return self._positions[part.source]
        if isinstance(part, Message):
            return self._message(part)
        self.constants.append(part)
        return next(self._constants)


def _messages_in(message: Message) -> int:
    return 1 + sum(_messages_in(part) for part in _smoothed(message) if isinstance(part, Message))


def _smoothed(message: Message) -> Iterator[Part]:
    """Yield the parts of a message, as few as can be: what is constant is joined."""
    constant = b""
    for part in _opened(message):
        if isinstance(part, bytes):
            constant += part
            continue
        if constant:
            yield constant
        yield part
        constant = b""
    if constant:
        yield constant


def _opened(message: Message) -> Iterator[Part]:
    """Yield the parts of a message, and in place of messages that never change their size theirs."""
    for part in message.parts:
        if isinstance(part, Message) and all(place.source == _TIME for place in part.places()):
            inner = list(_opened(part))
            yield varint(sum(len(p) if isinstance(p, bytes) else _TIME_SIZE for p in inner))
            yield from inner
        else:
            yield part
