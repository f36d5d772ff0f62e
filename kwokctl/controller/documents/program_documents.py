"""Documents of kind ContainerProgram: what the programs of images and commands do."""

from collections.abc import Iterable

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import OWN, PROGRAM
from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram, changed
from kwokctl.controller.lifecycle.containers.find_program import ProgramRule, ProgramRules
from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json


class ContainerProgramSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The containers that a document selects, and the behaviour of their program."""

    program: str
    """The behaviour of the program, in the words of the annotation 'kwokctl.dev/program'."""
    image: str = "*"
    """A pattern of the image, as the pod names it; `*` is any text."""
    command: str = "*"
    """A pattern of the command and the arguments, with spaces between them."""


class ContainerProgramShape(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """A document about the programs of some containers, in pods that live as on a kubelet."""

    api_version: str = OWN
    kind: str = PROGRAM
    metadata: dict[str, Json] | None = None
    spec: ContainerProgramSpec


def read_programs(documents: Iterable[Document]) -> ProgramRules:
    """Read the documents in their order; raises ConfigError with the place of what is wrong."""
    return tuple(_rule(document) for document in documents if document.kind == PROGRAM)


def _rule(document: Document) -> ProgramRule:
    try:
        spec = msgspec.convert(document.body, ContainerProgramShape).spec
    except msgspec.ValidationError as e:
        raise document.misshapen(e) from e
    place = f"{document.source}: 'spec.program'"
    try:
        changed(ContainerProgram(), spec.program, place)
    except ExpressionError as e:
        raise document.fault("spec.program", str(e).removeprefix(f"{place}: "), hint=e.hint) from e
    return ProgramRule(image=spec.image, command=spec.command, program=spec.program, place=place)
