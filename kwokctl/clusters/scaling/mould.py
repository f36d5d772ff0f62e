"""Makes the bodies of a set's objects: parameters edited, template rendered, membership labelled."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import orjson

from kwokctl.clusters.scaling.addresses import add_cidr, add_ip
from kwokctl.clusters.scaling.pattern import Pattern, pattern_of
from kwokctl.clusters.scaling.positions import Positions
from kwokctl.clusters.scaling.request import LABEL, ScaleRequest
from kwokctl.clusters.scaling.templates import ResourceTemplate
from kwokctl.controller.stages.functions import Kubelet, common, for_nodes
from kwokctl.errors import ConfigError, ExpressionError, UsageError
from kwokctl.expr import gotemplate, jq
from kwokctl.expr.gotemplate.symbols import Symbol
from kwokctl.host.allowance import MEMORY, SECONDS, bounded

Json = Any

_OWN = ("Name", "Index", "Position")
"""The functions that give every object something of its own."""
NO_KUBELET = Kubelet()
"""For clusters whose controller is not known."""


class Mould:
    """A resource template ready to be stamped out.

    Made before the cluster is touched: raises UsageError for a parameter that cannot be edited so,
    and ConfigError for a template that is none.
    """

    def __init__(
        self,
        template: ResourceTemplate,
        request: ScaleRequest,
        wall: Callable[[], float],
        kubelet: Kubelet = NO_KUBELET,
    ) -> None:
        """Edit the parameters and compile the template; `wall` is the time of day, POSIX.

        `kubelet` says where the kubelets of the cluster's fake nodes are reached.
        """
        self._request = request
        self._made_of = template
        self._parameters = edited(template.parameters, request.params)
        self.positions = Positions(request)
        """How far its objects count on from where the template starts."""
        self._functions = {
            **for_nodes(common(wall), kubelet),
            "Namespace": lambda: request.namespace,
            "AddCIDR": add_cidr,
            "AddIP": add_ip,
        }
        try:
            self._template = gotemplate.compile(template.template, name=template.name)
        except ExpressionError as e:
            raise ConfigError(f"{template.source}: {e}", hint=e.hint) from e

    def starts(self) -> frozenset[str]:
        """Return the networks and addresses that objects count on from, if it is by their position."""
        starts: set[str] = set()
        asked: list[int] = []

        def position() -> int:
            asked.append(0)
            return 0

        def noted(start: object, count: object) -> str:
            starts.add(str(start))
            return f"{start} {count}"

        functions = {**self._functions, "Position": position, "AddCIDR": noted, "AddIP": noted}
        self._rendered(0, functions)
        return frozenset(starts) if asked else frozenset()

    def stamp(self, serial: int) -> dict[str, Json]:
        """Return the object with this number; ConfigError if the template does not give one."""
        return self._stamp(serial, self._functions)

    def pattern(self) -> Pattern | None:
        """Return what the objects have in common; None if that cannot be told for sure.

        Nobody can where a template branches on an object's name or index. What the pattern gives is
        tried for the first two objects and the one after the last.
        """
        now = self._functions["Now"]()
        functions = {**self._functions, "Now": lambda: now}
        try:
            body = self._template.render_symbols(self._parameters, functions, _OWN)
            self._labelled(body).setdefault("name", Symbol("Name"))
            pattern = pattern_of(body, self._request.object_name, self.positions.of)
            for serial in {0, 1, self._request.replicas}:
                if not _alike(pattern.body_for(serial), self._stamp(serial, functions)):
                    return None
        except (ConfigError, ExpressionError):
            return None
        return pattern

    def _stamp(self, serial: int, functions: Mapping[str, Callable[..., Json]]) -> dict[str, Json]:
        position = self.positions.of(serial)
        body = self._rendered(serial, {**functions, "Position": lambda: position})
        return self._checked(body, self._request.object_name(serial))

    def _rendered(self, serial: int, functions: Mapping[str, Callable[..., Json]]) -> Json:
        name = self._request.object_name(serial)
        functions = {**functions, "Name": lambda: name, "Index": lambda: serial}
        try:
            return self._template.render_object(self._parameters, functions)
        except ExpressionError as e:
            where = f"{self._made_of.source}, for '{name}'"
            raise ConfigError(f"{where}: {e}", hint=e.hint) from e

    def _checked(self, body: Json, name: str) -> dict[str, Json]:
        """Make sure that the object is one, has its name, and carries the label of its set."""
        metadata = self._labelled(body)
        if metadata.setdefault("name", name) != name:
            raise self._fault(
                f"names the object '{metadata['name']}' instead of '{name}'",
                hint="write 'name: {{ Name }}' in the template",
            )
        checked: dict[str, Json] = body
        return checked

    def _labelled(self, body: Json) -> dict[str, Json]:
        """Make sure that the object is one, with the label of its set; return its metadata."""
        if not isinstance(body, dict):
            raise self._fault("gives no object with 'apiVersion' and 'kind'")
        for field in ("apiVersion", "kind"):
            if not isinstance(body.get(field), str) or not body[field]:
                raise self._fault(f"gives an object without '{field}'")
        metadata = _mapping_in(body, "metadata")
        labels = None if metadata is None else _mapping_in(metadata, "labels")
        if metadata is None or labels is None:
            raise self._fault("gives an object whose 'metadata' or 'labels' is not a mapping")
        labels[LABEL] = self._request.set_name
        return metadata

    def _fault(self, problem: str, *, hint: str | None = None) -> ConfigError:
        made_of = self._made_of
        return ConfigError(f"{made_of.source}: template '{made_of.name}' {problem}", hint=hint)


def edited(parameters: Json, programs: tuple[str, ...]) -> Json:
    """Return the parameters as the jq `programs` make them, one after the other.

    Raises UsageError for a program that is none, or that does not give exactly one result.
    """
    value = deepcopy(parameters)
    for program in programs:
        try:
            with bounded():
                results = jq.compile(program).run(value)
        except (MemoryError, TimeoutError) as e:
            raise UsageError(
                f"--param '{program}' takes more than {MEMORY >> 30} GiB or {SECONDS:g} s",
                hint="it must turn all parameters into new ones: '.allocatable.cpu = \"64\"'",
            ) from e
        except ExpressionError as e:
            raise UsageError(
                f"--param: {e}",
                hint=e.hint or "it is a jq program, such as '.nodeName = \"node-000000\"'",
            ) from e
        if len(results) != 1:
            raise UsageError(
                f"--param '{program}' gives {len(results)} results instead of one",
                hint="it must turn all parameters into new ones: '.allocatable.cpu = \"64\"'",
            )
        value = results[0]
    return value


def _alike(first: Json, second: Json) -> bool:
    """Tell whether two objects are the same JSON: here 1 is not True."""
    option = orjson.OPT_SORT_KEYS
    return orjson.dumps(first, option=option) == orjson.dumps(second, option=option)


def _mapping_in(body: dict[str, Json], field: str) -> dict[str, Json] | None:
    """Return the mapping under `field`, put there if there is nothing; None if it is none."""
    if body.get(field) is None:
        body[field] = {}
    value = body[field]
    return value if isinstance(value, dict) else None
