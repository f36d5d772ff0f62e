"""Renders the objects of a set from a resource template.

Parameters are edited, the template is rendered, and each object is labelled as a member of its set.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy

from kwokctl.clusters.scaling.objects import completed_nodes
from kwokctl.clusters.scaling.objects.networks import Positions, add_cidr, add_ip
from kwokctl.clusters.scaling.objects.object_pattern import Pattern, alike, pattern_of
from kwokctl.clusters.scaling.scale_request import DEFAULT_NAMESPACE, LABEL, ScaleRequest
from kwokctl.clusters.state.resource_templates import ResourceTemplate
from kwokctl.controller.stages.stage_functions import Kubelet, common, for_nodes
from kwokctl.errors import ConfigError, ExpressionError, UsageError
from kwokctl.expr import gotemplate
from kwokctl.expr.gotemplate.symbols import Symbol
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.classes.healthy_conditions import conditions_at_birth
from kwokctl.fleet.slices import divided_pages, gpu_pages
from kwokctl.fleet.topology import (
    topology_labels,
    topology_place,
    topology_unit,
    topology_units,
)
from kwokctl.json_value import Json
from kwokctl.replacing import replace

Functions = Mapping[str, Callable[..., Json]]
"""The functions that a template may call, by name."""


OWN = ("Name", "Index", "Position")
"""The functions that give every object something of its own."""
NO_KUBELET = Kubelet()
"""For clusters whose controller is not known."""
BUILT_IN = FaultCatalogue()


class Renderer:
    """A compiled resource template.

    Made before the cluster is touched: raises UsageError for a parameter that cannot be edited so,
    and ConfigError for an invalid template.
    """

    def __init__(
        self,
        template: ResourceTemplate,
        request: ScaleRequest,
        wall: Callable[[], float],
        kubelet: Kubelet = NO_KUBELET,
        faults: FaultCatalogue = BUILT_IN,
    ) -> None:
        """Edit the parameters and compile the template; `wall` is the time of day, POSIX.

        `kubelet` says where the kubelets of the cluster's fake nodes are reached, `faults` has the dialects in which
        nodes can say that they are healthy.
        """
        self.request = request
        self.parameters = edited(template.parameters, request.params)
        """The edited parameters."""
        if wrong := template.misshapen(self.parameters):
            raise UsageError(f"--param: '{wrong[0]}' must be {wrong[1]}")
        self.companions = template.companions
        """The templates of further objects."""
        self._made_of = template
        self._kubelet = kubelet
        self._faults = faults
        self._wall = wall
        self.positions = Positions(request)
        """The offsets at which its objects continue the counts of the template."""
        self._functions = {
            **for_nodes(common(wall), kubelet),
            "Namespace": lambda: request.namespace or DEFAULT_NAMESPACE,
            "SetName": lambda: request.set_name,
            "AddCIDR": add_cidr,
            "AddIP": add_ip,
            "DialectConditions": conditions_at_birth(faults),
            "GPUPages": gpu_pages,
            "DividedGPUPages": divided_pages,
            "TopologyLabels": topology_labels,
            "TopologyUnit": topology_unit,
            "TopologyUnits": topology_units,
            "TopologyPlace": topology_place,
        }
        self._template = self.compiled(template.template, template.name)

    def compiled(self, text: str, name: str) -> gotemplate.Template:
        """Compile a text of the template's document; ConfigError, with the file, for an invalid one."""
        try:
            return gotemplate.compile(text, name=name)
        except ExpressionError as e:
            raise ConfigError(f"{self._made_of.source}: {e}", hint=e.hint) from e

    def edited(self, params: tuple[str, ...]) -> "Renderer":
        """Return a renderer with parameters that an earlier `scale` has stored.

        Raises UsageError if the template cannot be edited so any more.
        """
        if params == self.request.params:
            return self
        request = replace(self.request, params=params)
        try:
            return Renderer(self._made_of, request, self._wall, self._kubelet, self._faults)
        except UsageError as e:
            remembered = f"'{request.set_name}' was made with it; give --param again"
            raise UsageError(str(e), hint=remembered) from e

    def starts(self) -> frozenset[str]:
        """Return the networks and addresses from which objects count by position, if they do."""
        starts: set[str] = set()
        asked: list[int] = []

        def position() -> int:
            asked.append(0)
            return 0

        def noted(start: object, count: object) -> str:
            starts.add(str(start))
            return f"{start} {count}"

        counting: Functions = {"Position": position, "AddCIDR": noted, "AddIP": noted}
        functions = {**self.functions_of(0), **counting}
        self.rendered(self._template, functions, self.request.object_name(0))
        return frozenset(starts) if asked else frozenset()

    def stamp(self, serial: int) -> dict[str, Json]:
        """Return the object with this number; ConfigError if the template does not give one."""
        return self._stamp(serial, self._functions)

    def pattern(self) -> Pattern | None:
        """Return what the objects have in common; None if that is not certain.

        It is not where a template branches on an object's name or index. What the pattern gives is
        tried for the first two objects and the one after the last.
        """
        functions = self.at_one_moment()
        try:
            body = self._template.render_symbols(self.parameters, functions, OWN)
            self._labelled(body).setdefault("name", Symbol("Name"))
            if completed_nodes.is_node(body):
                completed_nodes.complete(body)
            pattern = pattern_of(body, self.request.object_name, self.positions.of)
            for serial in {0, 1, self.request.replicas}:
                if not alike(pattern.body_for(serial), self._stamp(serial, functions)):
                    return None
        except (ConfigError, ExpressionError):
            return None
        return pattern

    def at_one_moment(self) -> Functions:
        """Return the functions that templates may call, which all have the same time."""
        now = self._functions["Now"]()
        return {**self._functions, "Now": lambda: now}

    def functions_of(self, serial: int, functions: Functions | None = None) -> Functions:
        """Return `functions`, or those that templates may call, with those of the object with a serial."""
        name, position = self.request.object_name(serial), self.positions.of(serial)
        own = {"Name": lambda: name, "Index": lambda: serial, "Position": lambda: position}
        return {**(functions or self._functions), **own}

    def rendered(self, template: gotemplate.Template, functions: Functions, name: str) -> Json:
        """Return what a template of the document gives; ConfigError, with the file and the object's name."""
        try:
            return template.render_object(self.parameters, functions)
        except ExpressionError as e:
            raise ConfigError(f"{self._made_of.source}, for '{name}': {e}", hint=e.hint) from e

    def _stamp(self, serial: int, functions: Functions) -> dict[str, Json]:
        name = self.request.object_name(serial)
        body = self.rendered(self._template, self.functions_of(serial, functions), name)
        return self._checked(body, name)

    def _checked(self, body: Json, name: str) -> dict[str, Json]:
        """Make sure that it is an object, has its name, and carries the label of its set."""
        metadata = self._labelled(body)
        if metadata.setdefault("name", name) != name:
            raise self.fault(
                f"names the object '{metadata['name']}' instead of '{name}'",
                hint="write 'name: {{ Name }}' in the template",
            )
        if completed_nodes.is_node(body):
            completed_nodes.complete(body)
        checked: dict[str, Json] = body
        return checked

    def _labelled(self, body: Json) -> dict[str, Json]:
        """Make sure that it is an object, with the label of its set; return its metadata."""
        metadata = labelled(body, LABEL, self.request.set_name)
        if isinstance(metadata, str):
            raise self.fault(metadata)
        return metadata

    def fault(self, problem: str, *, hint: str | None = None, where: str = "") -> ConfigError:
        """Return the error for something that the template gives, or that another template of its document gives."""
        made_of = self._made_of
        place = f", {where}" if where else ""
        message = f"{made_of.source}: template '{made_of.name}'{place} {problem}"
        return ConfigError(message, hint=hint)


def labelled(body: Json, label: str, value: str) -> dict[str, Json] | str:
    """Label what a template gives, and return its metadata; what is wrong with it if it is no object."""
    if not isinstance(body, dict):
        return "gives no object with 'apiVersion' and 'kind'"
    for field in ("apiVersion", "kind"):
        if not isinstance(body.get(field), str) or not body[field]:
            return f"gives an object without '{field}'"
    metadata = _mapping_in(body, "metadata")
    labels = None if metadata is None else _mapping_in(metadata, "labels")
    if metadata is None or labels is None:
        return "gives an object whose 'metadata' or 'labels' is not a mapping"
    labels[label] = value
    return metadata


def edited(parameters: Json, programs: tuple[str, ...]) -> Json:
    """Return the parameters as the jq `programs` make them, one after the other.

    Raises UsageError for an invalid program, or one that does not give exactly one result.
    """
    value = deepcopy(parameters)
    if not programs:
        return value
    from kwokctl.expr import jq  # most sets have none

    for program in programs:
        try:
            results = jq.compile(program).run(value)
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


def _mapping_in(body: dict[str, Json], field: str) -> dict[str, Json] | None:
    """Return the mapping under `field`, created if absent; None if it is not a mapping."""
    if body.get(field) is None:
        body[field] = {}
    value = body[field]
    return value if isinstance(value, dict) else None
