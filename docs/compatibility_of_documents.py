"""The parts of the page of compatibility that are no options of clusters: documents, variables, `kwok`, `kectl`.

The support of each follows from the shapes and parsers that read it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kwokctl.cli import app
from kwokctl.clusters.state.kept_documents import SETTLED_BY_CLUSTER
from kwokctl.config.document_kinds import API_VERSIONS
from kwokctl.config.extras.extras_reader import ExtraComponentShape
from kwokctl.config.patches.document_shapes import StrictShape
from kwokctl.config.patches.patch_reader import ComponentPatchShape
from kwokctl.controller.configuration import OPTIONS, WITHOUT_SPANS
from kwokctl.embedded.flag_parser import RefusedFlag
from kwokctl.kwok.flags import parser

Row = tuple[str, ...]
_DOCUMENTS = "tests/cli/test_compatibility_of_documents.py::"


def parts(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, Row, list[Row]]]:
    """Yield the title of each part, the test that exercises its rows, their head, and the rows."""
    for title, test, first, rows in _PARTS:
        head = (first, "support", "remark")
        yield title, f"{_DOCUMENTS}{test}", head, list(rows(facts))


def _controller(facts: Mapping[str, Any]) -> Iterator[Row]:
    for name, theirs in facts["controller_options"].items():
        option = OPTIONS[name]
        if option.missing:
            yield (
                f"`{name}`",
                "refused",
                f"a warning if the value is not the default: {option.missing}",
            )
        elif option.original is not None:
            yield (
                f"`{name}`",
                "other default",
                f"default `{_text(option.default)}`, the original's `{_text(theirs)}`",
            )
        else:
            decider = SETTLED_BY_CLUSTER.get(name, "").replace("the cluster's own", "")
            said = f"for the command `kwok`; a cluster uses its own value{decider and ', of '}{decider}, and warns"
            yield (
                f"`{name}`",
                "same",
                said if name in SETTLED_BY_CLUSTER else "",
            )
    for name in ("endpoint", "samplingRatePerMillion"):
        yield f"`tracing.{name}`", "refused", f"an error: {WITHOUT_SPANS}"


def _fields(key: str, shape: type[StrictShape]) -> Callable[[Mapping[str, Any]], Iterator[Row]]:
    def rows(facts: Mapping[str, Any]) -> Iterator[Row]:
        known = shape.__struct_encode_fields__
        for name, part in facts[key].items():
            fate = ("in part" if part else "same") if name in known else "refused"
            yield f"`{name}`", fate, part

    return rows


def _kinds(facts: Mapping[str, Any]) -> Iterator[Row]:
    for kind in facts["kinds"]:
        yield f"`{kind}`", "same" if kind in API_VERSIONS else "later", ""


def _variables(facts: Mapping[str, Any]) -> Iterator[Row]:
    for name, fact in facts["other_variables"].items():
        later = fact.get("later", "")
        yield f"`{name}`", "later" if later else "same", later


def _of_kwok(facts: Mapping[str, Any]) -> Iterator[Row]:
    actions = {word: each for each in parser().actions() for word in each.option_strings}
    for flag in facts["kwok_flags"]:
        action = actions.get(flag)
        if action is None:
            yield f"`kwok {flag}`", "later", ""
        elif isinstance(action, RefusedFlag):
            yield (
                f"`kwok {flag}`",
                "refused",
                f"an error: {str(action.help).removeprefix('not supported: ')}",
            )
        else:
            yield f"`kwok {flag}`", "same", ""


def _of_kectl(facts: Mapping[str, Any]) -> Iterator[Row]:
    commands: Any = app.build().commands["etcd"].commands
    for command, flags in facts["kectl"].items():
        params = {word: each for each in commands[command].params for word in each.opts}
        for flag in flags:
            param = params.get(flag)
            is_read = param is not None and not param.hidden
            yield f"`kectl {command} {flag}`", *_fate(param, is_read=is_read)


def _fate(param: Any, *, is_read: bool) -> Row:
    if is_read:
        return "same", ""
    if param is not None and param.metavar == "IDLE":
        return "same", "accepted, without effect"
    return "refused", "an error, which names what to use instead"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_PARTS: tuple[tuple[str, str, str, Callable[[Mapping[str, Any]], Iterator[Row]]], ...] = (
    (
        "Options of a KwokConfiguration",
        "test_an_option_of_the_controller_is_used_or_refused",
        "key",
        _controller,
    ),
    (
        "Fields of `components`",
        "test_a_field_of_a_component_is_kept",
        "field",
        _fields("component_fields", ExtraComponentShape),
    ),
    (
        "Fields of `componentsPatches`",
        "test_a_field_of_a_patch_is_kept",
        "field",
        _fields("patch_fields", ComponentPatchShape),
    ),
    ("Kinds of documents", "test_a_document_of_a_kind_is_read", "kind", _kinds),
    (
        "Other variables",
        "test_a_variable_that_is_no_option_has_a_test",
        "variable",
        _variables,
    ),
    ("Flags of `kwok`", "test_a_flag_of_kwok_is_read_or_refused", "flag", _of_kwok),
    ("Words of `kectl`", "test_a_flag_of_kectl_is_read_or_refused", "flag", _of_kectl),
)
