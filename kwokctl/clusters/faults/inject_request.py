"""The fault that a command is to inject, and its checks against the catalogue."""

from collections.abc import Iterable, Mapping, Sequence
from secrets import randbelow

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import FAULT_CLASS, FAULT_DIALECT
from kwokctl.errors import UsageError
from kwokctl.faults.classes.catalogue import FaultCatalogue, FaultClass
from kwokctl.faults.classes.class_parameters import parameters_of
from kwokctl.faults.classes.class_schema import FaultParameter
from kwokctl.faults.fault_checks import check_fault
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget
from kwokctl.faults.overlays.definitions import dialects_of
from kwokctl.faults.targets.target_selection import API
from kwokctl.json_value import Json
from kwokctl.waits import Standstill

_SEEDS = 2**31


class InjectRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A fault as the words of a command say it."""

    name: str = ""
    """Of the Fault; without one, it is made of the class and some letters."""
    class_name: str
    target: FaultTarget
    settings: tuple[str, ...] = ()
    """Values of parameters, such as `gpu=3`."""
    dialects: tuple[str, ...] = ()
    at: str = ""
    lasts: str = ""
    until: str = ""
    seed: int | None = None
    """Without one, it is drawn."""
    gang: bool = False
    wait: float | Standstill | None = None
    """Seconds until all units must show it; None not to wait."""


def checked_spec(request: InjectRequest, catalogue: FaultCatalogue) -> FaultSpec:
    """Return the spec of a fault; UsageError and ConfigError for what is unknown or contradicts itself."""
    found = catalogue.find(request.class_name)
    target = request.target
    if found.spec.scope == API and target == FaultTarget():
        target = FaultTarget(api=True)
    for name in request.dialects:
        catalogue.dialect(name)
    spec = FaultSpec(
        class_name=found.name,
        target=target,
        dialects=request.dialects,
        parameters=_values(request.settings, parameters_of(found.spec)),
        seed=randbelow(_SEEDS) if request.seed is None else request.seed,
        at=request.at or "0s",
        lasts=request.lasts,
        until=request.until,
        gang=request.gang,
    )
    check_fault(spec, catalogue)
    return spec


def _values(settings: Sequence[str], parameters: Mapping[str, FaultParameter]) -> dict[str, Json]:
    """Return values by name; a text that is not of the parameter's type stays a text, for the check to refuse."""
    values: dict[str, Json] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not (name and equals):
            raise UsageError(f"'--set' is '{setting}'", hint="for example: --set gpu=3")
        if name in values:
            raise UsageError(f"'--set' gives '{name}' twice", hint="give it once")
        values[name] = _value(text, parameters.get(name))
    return values


def _value(text: str, parameter: FaultParameter | None) -> Json:
    read = {"integer": int, "number": float}.get(parameter.type) if parameter else None
    try:
        return text if read is None else read(text)
    except ValueError:
        return text


def used_documents(
    spec: FaultSpec, catalogue: FaultCatalogue, documents: Sequence[Document]
) -> list[Document]:
    """Return those of the user's classes and dialects that a fault needs, for the controller to find them."""
    return documents_of([spec.class_name], spec.dialects, catalogue, documents)


def documents_of(
    class_names: Iterable[str],
    dialects: Sequence[str],
    catalogue: FaultCatalogue,
    documents: Sequence[Document],
) -> list[Document]:
    """Return those of the user's documents that faults of some classes need in some dialects."""
    classes: set[str] = set()
    for name in class_names:
        found: FaultClass = catalogue.find(name)
        classes |= {each.name for each in (found, *catalogue.followers(found))}
    wanted = {FAULT_CLASS: classes, FAULT_DIALECT: {*dialects_of(catalogue, dialects)}}
    return [each for each in documents if each.name in wanted.get(each.kind, ())]
