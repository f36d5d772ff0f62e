"""Reads documents of kind Load, and says where one is wrong."""

from collections.abc import Iterable, Sequence

import msgspec

from kwokctl.config.documents import Document, load_documents
from kwokctl.config.kinds import LOAD
from kwokctl.errors import ConfigError, ExpressionError
from kwokctl.expr.gotemplate import template
from kwokctl.kube.names import LABEL_RULE, is_label
from kwokctl.load.bundles import BundleTemplate
from kwokctl.load.schema import LoadShape, LoadSpec
from kwokctl.progress import Progress, Silent


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """One load, read and checked."""

    name: str
    spec: LoadSpec
    document: Document
    """What it was read from, for messages."""
    bundles: tuple[BundleTemplate, ...] = ()
    """The objects that it may create."""

    @property
    def phase(self) -> str:
        """The name under which figures show it."""
        return self.spec.phase or self.name


def read_loads(paths: Sequence[str], *, progress: Progress | None = None) -> tuple[Load, ...]:
    """Read the loads of files; `-` is standard input.

    Raises ConfigError, with file, document and field, for one that is wrong, and for files without any.
    """
    documents = load_documents(paths, progress=progress or Silent())
    loads = tuple(read_load(each) for each in documents if each.kind == LOAD)
    if not loads:
        raise ConfigError(
            f"there is no document of kind '{LOAD}' in '{', '.join(paths)}'",
            hint="what one looks like says: kwokctl load --help",
        )
    _check_names(loads)
    return loads


def read_load(document: Document) -> Load:
    """Read one document; errors as `read_loads`."""
    try:
        shape = msgspec.convert(document.body, LoadShape)
    except msgspec.ValidationError as e:
        raise document.misshapen(e) from e
    if not is_label(document.name):
        raise document.fault("metadata.name", "cannot be the name of a load", hint=LABEL_RULE)
    return Load(
        name=document.name,
        spec=shape.spec,
        document=document,
        bundles=tuple(_bundles(document, shape.spec)),
    )


def _bundles(document: Document, spec: LoadSpec) -> Iterable[BundleTemplate]:
    for number, each in enumerate(spec.create or ()):
        place = f"spec.create[{number}].template"
        try:
            template.compile(each.template, name=place)
        except ExpressionError as e:
            raise document.fault(place, f"is no template: {e}", hint=e.hint) from e
        yield BundleTemplate(each.template, place)


def _check_names(loads: Sequence[Load]) -> None:
    names: set[str] = set()
    for load in loads:
        if load.name in names:
            raise load.document.fault(
                "metadata.name", f"is '{load.name}', as another load is called"
            )
        names.add(load.name)
