"""Renders companions: further objects beside those of a set, from templates of the same document.

A template of companions has the parameters and the functions of the set's own, without `Position`, and may give
a `List`. One for each object has its `Name` and `Index`; one for the set has the set's name, and `Size`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kwokctl.clusters.scaling.objects.object_pattern import Pattern, alike, pattern_of
from kwokctl.clusters.scaling.objects.render import Functions, Renderer, labelled
from kwokctl.clusters.state.companion_templates import CompanionTemplate
from kwokctl.dataplane.copies.variable_fields import Path
from kwokctl.errors import ConfigError, ExpressionError
from kwokctl.expr.gotemplate.symbols import Symbol
from kwokctl.json_value import Json

COMPANION_OF = "kwokctl.dev/companion-of"
"""The label with the name of the set for which a companion was made."""
OF_KIND, OF_NAMESPACE = f"{COMPANION_OF}-kind", f"{COMPANION_OF}-namespace"
"""Labels of companions without an owner: the kind and the namespace of their set, whose name others may have."""
OWNER_UID: Path = ("metadata", "ownerReferences", 0, "uid")
"""The place of the uid of the object for which a companion was made."""
NAME: Path = ("metadata", "name")
_OWN = ("Name", "Index")
_POSITION = "Position"


class CompanionRenderer:
    """One template of companions, compiled.

    Raises ConfigError, with the place, for a template that is not valid.
    """

    def __init__(self, companion: CompanionTemplate, renderer: Renderer) -> None:
        self.companion = companion
        self._renderer = renderer
        self._template = renderer.compiled(companion.template, companion.place)

    def of_set(self, size: int) -> list[dict[str, Json]]:
        """Return the companions of a set whose objects have numbers below `size`."""
        name = self._renderer.request.set_name
        functions = _without_position(self._renderer.at_one_moment())
        own = {"Name": lambda: name, "Size": lambda: size}
        found = self._renderer.rendered(self._template, {**functions, **own}, name)
        return [self._checked(body) for body in self._unfolded(found)]

    def of_object(self, serial: int, owner: Mapping[str, Json]) -> list[dict[str, Json]]:
        """Return the companions of the object with a number, which the reference `owner` names."""
        functions = self._renderer.functions_of(serial, self._renderer.at_one_moment())
        return self._of_object(serial, owner, functions)

    def patterns(self, owner: Mapping[str, Json]) -> Sequence[Pattern] | None:
        """Return what the companions of all objects have in common; None if that is not certain.

        It is tried for the first two objects and the one after the last.
        """
        request, functions = self._renderer.request, self._renderer.at_one_moment()
        unknown = _without_position(functions)
        try:
            found = self._template.render_symbols(self._renderer.parameters, unknown, _OWN)
            bodies = [self._owned(body, owner, Symbol("Name")) for body in self._unfolded(found)]
            patterns = [pattern_of(body, request.object_name) for body in bodies]
            for serial in {0, 1, request.replicas}:
                made = [each.body_for(serial) for each in patterns]
                if not alike(made, self._of_object(serial, owner, functions)):
                    return None
        except (ConfigError, ExpressionError):
            return None
        return patterns

    def _of_object(
        self, serial: int, owner: Mapping[str, Json], functions: Functions
    ) -> list[dict[str, Json]]:
        name = self._renderer.request.object_name(serial)
        own = _without_position(self._renderer.functions_of(serial, functions))
        found = self._renderer.rendered(self._template, own, name)
        return [self._owned(body, owner, name) for body in self._unfolded(found)]

    def _unfolded(self, found: Any) -> Iterator[Json]:
        """Yield the objects that a template gives: none, one, or the items of a List."""
        if found is None:
            return
        if isinstance(found, dict) and found.get("kind") == "List":
            yield from found.get("items") or ()
        else:
            yield found

    def _owned(self, body: Json, owner: Mapping[str, Json], name: str | Symbol) -> dict[str, Json]:
        """Return a companion with the label of its set and a reference to its owner."""
        checked = self._checked(body)
        metadata = checked["metadata"]
        others = metadata.get("ownerReferences") or []
        metadata["ownerReferences"] = [{**owner, "name": name}, *others]
        return checked

    def _checked(self, body: Json) -> dict[str, Json]:
        metadata = labelled(body, COMPANION_OF, self._renderer.request.set_name)
        if isinstance(metadata, str):
            raise self.fault(metadata)
        if metadata.get("name") is None:
            raise self.fault("gives an object without 'metadata.name'")
        checked: dict[str, Json] = body
        return checked

    def fault(self, problem: str, *, hint: str | None = None) -> ConfigError:
        """Return the error for something that the template gives."""
        return self._renderer.fault(problem, hint=hint, where=self.companion.place)


def _without_position(functions: Functions) -> Functions:
    """Leave out what is known only while nodes are made: companions are repaired later, too."""
    return {name: each for name, each in functions.items() if name != _POSITION}
