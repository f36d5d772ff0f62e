"""What is known of each arrival, and who is told of it: the interface of loads and their observers."""

from typing import Protocol

import msgspec


class Made(msgspec.Struct, frozen=True):
    """An object that an arrival has made."""

    api_version: str
    kind: str
    namespace: str
    """Empty for a kind without namespaces."""
    name: str
    uid: str


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """One arrival, once it is accepted or refused; times are nanoseconds of `time.monotonic_ns`."""

    load: str
    phase: str
    index: int
    """Its number in the load, from 0 on."""
    act: str
    due: int
    """When it was to be sent."""
    sent: int
    """When its first request was sent."""
    accepted: int | None
    """When the last of its requests was answered; None if one was refused."""
    made: tuple[Made, ...] = ()
    refusal: str | None = None
    """The reason of the refusal, as the API server gives it: `AlreadyExists`, `Forbidden`."""
    message: str = ""
    """What the API server said of it."""


class ArrivalSink(Protocol):
    """Is told of every arrival, in the order of their answers."""

    def arrived(self, arrival: Arrival) -> None:
        """Take note of an arrival; it must not take long."""
        ...


class Unobserved:
    """Takes no note."""

    def arrived(self, arrival: Arrival) -> None:
        """Do nothing."""
