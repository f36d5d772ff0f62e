"""Creates the objects of an arrival."""

from collections.abc import Sequence

from kwokctl.draws.distributions import WeightedChoice
from kwokctl.draws.streams import DrawStream
from kwokctl.errors import ConfigError, NotFoundError
from kwokctl.json_value import Json
from kwokctl.load.acts.act import ActContext, Data, Work
from kwokctl.load.client.load_rights import Right
from kwokctl.load.client.sender import Flight
from kwokctl.load.description.bundles import LOAD_LABEL, RUN_LABEL, label
from kwokctl.load.description.template_draws import TemplateDraws
from kwokctl.load.load_documents import Load


class Bundles:
    """The objects of each arrival of a load: of one source of several, chosen by their weights."""

    def __init__(self, load: Load, run: str, stream: DrawStream) -> None:
        """Choose by the stream of the load."""
        self._load = load
        self._labels = {LOAD_LABEL: load.name, RUN_LABEL: run}
        self._stream = stream.below("template")
        self._draws = TemplateDraws(stream)
        weights = tuple(each.weight for each in load.spec.create or ()) or (1.0,)
        self._choice = WeightedChoice(values=tuple(range(len(weights))), weights=weights)

    def at(self, data: Data) -> list[dict[str, Json]]:
        """Return the objects of an arrival; ConfigError, with the place, for what does not render."""
        return self.of(self.chosen(data), data)

    def chosen(self, data: Data) -> int:
        """Return the number of the source of an arrival."""
        if len(self._load.sources) == 1:
            return 0
        number: int = self._choice.value(self._stream.at(data["index"]))
        return number

    def of(self, number: int, data: Data) -> list[dict[str, Json]]:
        """Return the objects of one source; errors as `at`."""
        place = f"spec.create[{number}]"
        try:
            functions = self._draws.at(data["index"], place)
            bodies = self._load.sources[number].objects(data, functions)
            for each in bodies:
                label(each, self._labels)
        except ConfigError as e:
            raise self._load.document.fault(place, f"does not render: {e}", hint=e.hint) from e
        return bodies


class CreateAct:
    """Creates the objects of arrivals."""

    def __init__(self, context: ActContext) -> None:
        self._context = context
        self._bundles = Bundles(context.load, context.run, context.stream)

    async def rights(self, data: Data) -> list[Right]:
        """Return the rights to create what each of the sources gives."""
        found: list[Right] = []
        for number in range(len(self._context.load.sources)):
            place = f"spec.create[{number}]"
            bodies = self._bundles.of(number, data)
            self._context.check_values(bodies, place)
            _check_names(self._context, bodies, place)
            found += [await self._right(body, place) for body in bodies]
        return found

    def prepared(self, data: Data) -> Work:
        """Render the objects, and return what creates them in their order."""
        bodies = self._bundles.at(data)

        async def create(flight: Flight) -> None:
            for body in bodies[len(flight.made) :]:
                await flight.create(body)

        return create

    async def _right(self, body: Json, place: str) -> Right:
        context = self._context
        try:
            resource = await context.sender.client.resource_for(body["apiVersion"], body["kind"])
        except NotFoundError as e:
            raise context.fault(place, f"cannot be created: {e}", hint=e.hint) from e
        namespace = body["metadata"].get("namespace") or context.sender.namespace
        return Right("create", resource, namespace if resource.namespaced else "")


def _check_names(context: ActContext, bodies: Sequence[Json], place: str) -> None:
    """Raise ConfigError for two objects of a kind that would have one name."""
    names: set[tuple[Json, ...]] = set()
    for body in bodies:
        metadata = body["metadata"]
        key = body["apiVersion"], body["kind"], metadata.get("namespace"), metadata.get("name")
        if key in names and key[-1] is not None:
            raise context.fault(
                place,
                f"gives two {body['kind']}s with the name '{key[-1]}'",
                hint="name each of them",
            )
        names.add(key)
