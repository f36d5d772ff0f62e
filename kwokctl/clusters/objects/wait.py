"""Waits until objects are as they are wanted, by a watch: nothing is asked again and again."""

import math
from collections.abc import Callable, Mapping
from contextlib import aclosing

import msgspec

from kwokctl.clusters.objects.kinds import KindFinder
from kwokctl.errors import TimedOutError, UsageError
from kwokctl.expr import jq
from kwokctl.json_value import Json
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.waits import Moved, after, bounded

Predicate = Callable[[Mapping[str, Json]], bool]
Condition = str | Predicate
"""`exists`, `deleted`, the type of a condition as in `Ready` or `Ready=False`, a jq expression that
begins with a dot, or a function of the object."""

DELETED = "deleted"
_EXISTS = "exists"


def predicate(condition: Condition) -> Predicate:
    """Return the function that a condition means; UsageError for an invalid one."""
    if not isinstance(condition, str):
        return condition
    if condition in (_EXISTS, DELETED):
        return lambda _: True
    if condition.startswith("."):
        return _of_jq(condition)
    kind, _, status = condition.partition("=")
    if not kind.isidentifier():
        raise UsageError(
            f"'{condition}' is not a condition",
            hint="use 'exists', 'deleted', a type such as 'Ready' or 'Ready=False', a jq expression "
            "such as '.status.phase == \"Running\"', or a function",
        )
    return lambda obj: _condition(obj, kind) == (status or "True").lower()


def in_words(condition: Condition) -> str:
    """Return a condition as an error names it."""
    if isinstance(condition, str):
        return f"'{condition}'"
    return getattr(condition, "__name__", "as wanted").replace("<lambda>", "as wanted")


def _condition(obj: Mapping[str, Json], kind: str) -> str:
    """Return the status of a condition in lower case; empty if the object has none of that type."""
    for each in (obj.get("status") or {}).get("conditions") or ():
        if str(each.get("type", "")).lower() == kind.lower():
            return str(each.get("status", "")).lower()
    return ""


def _of_jq(text: str) -> Predicate:
    query = jq.compile(text)
    return lambda obj: any(query.values(obj))


_SHORTEST_WAIT = 0.001
"""Seconds: 0 would be no bound."""
_NAMED = 5
"""Objects that are named of those that are late."""
_decode = msgspec.json.Decoder(dict[str, Json]).decode
_Key = tuple[str, str]


class ObjectWait(msgspec.Struct, frozen=True, kw_only=True):
    """The objects to wait for, and the condition for them."""

    what: str
    """`KIND`, or `KIND/NAME`."""
    condition: Condition = "exists"
    namespace: str | None = "default"
    """None for all namespaces."""
    selector: str = ""
    count: int | None = None
    """The exact number of objects; None for at least one."""

    def __post_init__(self) -> None:
        """Raise UsageError for a wait that has no end."""
        predicate(self.condition)
        if self.name and (self.selector or self.count is not None):
            raise UsageError(
                f"'{self.what}' is one object: waiting for it takes neither a selector nor a number",
                hint=f"leave them out, or wait for '{self.kind}'",
            )

    @property
    def kind(self) -> str:
        """The word for the kind."""
        return self.what.partition("/")[0]

    @property
    def name(self) -> str:
        """The name of the one object; empty if there may be several."""
        return self.what.partition("/")[2]


async def wait_for(
    pool: Pool, finder: KindFinder, wanted: ObjectWait, seconds: float
) -> list[dict[str, Json]]:
    """Return the objects once they are as wanted; TimedOutError names those that are late."""
    resource = await finder.find(wanted.kind)
    view = _View(resource, wanted)
    try:
        async with bounded(seconds if seconds > 0 else _SHORTEST_WAIT) as moved:
            await _follow(pool, view, moved)
    except TimeoutError:
        # What was under way when the time was up says nothing to its reader.
        raise TimedOutError(
            f"{after(seconds)} {view.lack()}", hint="allow more time, or look at their Events"
        ) from None
    return view.objects


async def _follow(pool: Pool, view: "_View", moved: Moved) -> None:
    wanted, least = view.wanted, math.inf
    batches = watch(
        pool,
        view.resource,
        decoder=_decode,
        namespace=wanted.namespace,
        label_selector=wanted.selector,
        field_selector=f"metadata.name={wanted.name}" if wanted.name else "",
    )
    async with aclosing(batches):
        async for events in batches:
            for event in events:
                view.note(event)
            left = view.left()
            if not left:
                return
            if left < least:
                moved()
                least = left


class _View:
    """The object as a watch has shown it so far."""

    def __init__(self, resource: Resource, wanted: ObjectWait) -> None:
        self.resource, self.wanted = resource, wanted
        self._is_whole = False
        self._as_wanted = predicate(wanted.condition)
        self._found: dict[_Key, dict[str, Json]] = {}

    @property
    def objects(self) -> list[dict[str, Json]]:
        return [self._found[key] for key in sorted(self._found)]

    def note(self, event: Event[dict[str, Json]]) -> None:
        body = event.object
        if body is None:
            self._is_whole = True
            return
        if event.type is EventType.DELETED:
            self._found.pop(_key(body), None)
        else:
            head = {"apiVersion": self.resource.api_version, "kind": self.resource.kind}
            self._found[_key(body)] = {**head, **body}

    def left(self) -> float:
        """Return how many objects are not as wanted, as far as is known."""
        if not self._is_whole:
            return math.inf
        number = len(self._found)
        if self.wanted.condition == DELETED:
            return number
        missing = abs(self.wanted.count - number) if self.wanted.count is not None else not number
        return missing + len(self._late())

    def lack(self) -> str:
        """Say what is not as wanted."""
        if not self._is_whole:
            return f"the API server has not listed {self.resource.plural}"
        if self.wanted.condition == DELETED:
            return f"these still exist: {self._named(sorted(self._found))}"
        if self.wanted.name and not self._found:
            return f"'{self.wanted.what}' does not exist"
        if self._is_wrong_number():
            return f"there are {len(self._found)} {self.resource.plural}{self._number()}"
        return f"not {in_words(self.wanted.condition)}: {self._named(self._late())}"

    def _is_wrong_number(self) -> bool:
        number = len(self._found)
        return number == 0 if self.wanted.count is None else number != self.wanted.count

    def _number(self) -> str:
        return "" if self.wanted.count is None else f", not {self.wanted.count}"

    def _late(self) -> list[_Key]:
        return sorted(key for key, body in self._found.items() if not self._as_wanted(body))

    def _named(self, keys: list[_Key]) -> str:
        names = [f"{self.resource.kind} {'/'.join(filter(None, key))}" for key in keys[:_NAMED]]
        more = len(keys) - _NAMED
        return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _key(body: Mapping[str, Json]) -> _Key:
    metadata = body["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
