"""The class and the dialects of a fault as they were at its start. Pure.

They are copied into the cluster when it is injected: a class that is changed or deleted later, and another version of
kwokctl, do not change what an open fault shows.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import FaultDefinition
from kwokctl.faults.overlays.fault_course import ClassDefinition
from kwokctl.json_value import Json

USUAL_DIALECTS = ("npd", "device-plugin")
"""The dialects of a fault that names none in a cluster that has none, beside those that are on every node."""
_DIGITS = 5


def dialects_of(
    catalogue: FaultCatalogue, given: Sequence[str], usual: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the dialects that show a fault: those that are on every node, then the given ones in their order.

    Without given ones they are the `usual` ones of the cluster, and without these `USUAL_DIALECTS`.
    """
    always = [each.name for each in catalogue.dialects() if each.spec.always]
    return tuple(dict.fromkeys([*always, *(given or usual or USUAL_DIALECTS)]))


def definition_of(
    catalogue: FaultCatalogue, class_name: str, dialects: Sequence[str], usual: Sequence[str] = ()
) -> FaultDefinition:
    """Return the documents of a class and of the dialects that show it; errors as `FaultCatalogue.find`.

    `dialects` are those that the fault names, and `usual` those of the cluster.
    """
    found = catalogue.find(class_name)
    names = dialects_of(catalogue, dialects, usual)
    return FaultDefinition(
        class_name=found.name,
        classes=tuple(dict(each.document) for each in (found, *catalogue.followers(found))),
        dialects=tuple(dict(catalogue.dialect(each).document) for each in names),
    )


def definition_name(definition: FaultDefinition) -> str:
    """Return the name of the FaultPage that has a definition: the same for the same definition."""
    digest = blake2b(_encode(definition), digest_size=_DIGITS).hexdigest()
    return f"definition-{definition.class_name}-{digest}"


def read_definition(definition: FaultDefinition) -> ClassDefinition:
    """Return the classes and dialects of a definition; errors as `FaultCatalogue.find`."""
    bodies = (*definition.classes, *definition.dialects)
    catalogue = FaultCatalogue([_document(each) for each in bodies])
    found = catalogue.find(definition.class_name)
    return ClassDefinition(
        found=found,
        classes={each.name: each for each in catalogue.followers(found)},
        dialects=tuple(catalogue.dialect(each["metadata"]["name"]) for each in definition.dialects),
    )


def _document(body: Mapping[str, Json]) -> Document:
    return Document(
        kind=body["kind"],
        api_version=body["apiVersion"],
        name=body["metadata"]["name"],
        body=dict(body),
        source="a FaultPage",
    )


_encode = msgspec.json.Encoder(order="deterministic").encode
