"""The record of an arrival, and the interface of those who observe loads."""

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
    """The time at which it had to be sent."""
    sent: int
    """The time at which its first request was sent."""
    accepted: int | None
    """The time at which the last of its requests was answered; None if one was refused."""
    made: tuple[Made, ...] = ()
    past_api: int = 0
    """The number of these that were written past the API server."""
    refusal: str | None = None
    """The reason of the refusal, as the API server gives it: `AlreadyExists`, `Forbidden`."""
    message: str = ""
    """The message of the API server."""


class ArrivalSink(Protocol):
    """Receives every arrival, in the order of their answers."""

    def arrived(self, arrival: Arrival) -> None:
        """Receive an arrival; the call must be short."""
        ...


class Unobserved:
    """Takes no note."""

    def arrived(self, arrival: Arrival) -> None:
        """Do nothing."""
