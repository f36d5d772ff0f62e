"""Compares a request with a cluster that exists."""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.clusters.configuration.component_patches import wanted_patches
from kwokctl.clusters.state.kept_documents import (
    FOR_RUNTIME,
    FOR_SCALE,
    kept_documents,
    resource_templates,
)
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.cluster_plan import SELECTION, selected
from kwokctl.components.stage_sets import shipped_sets
from kwokctl.config.config_documents import Document
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.config.extras.extras_reader import FIELD as EXTRAS
from kwokctl.config.groups import ProgramOptions
from kwokctl.config.node_options import ObjectOptions
from kwokctl.config.options import ClusterOptions, spellings, value_of
from kwokctl.config.patches.patch import ComponentPatch
from kwokctl.config.patches.patch_reader import FIELD
from kwokctl.config.resolve import Resolved
from kwokctl.json_value import Json
from kwokctl.replacing import replace

_HOW_NOT_WHAT = (ProgramOptions, ObjectOptions)
"""Options that matter only while a cluster is made, or set its first nodes and pods."""


def differences(saved: Saved, asked: Resolved, documents: Sequence[Document]) -> tuple[str, ...]:
    """Name each setting that the user chose now and that the cluster does not have."""
    return (
        *_option_differences(saved.options, asked),
        *_component_differences(saved, asked),
        *_extra_differences(saved, asked),
        *_patch_differences(saved, asked, documents),
        *_stage_differences(saved, documents),
        *_kept_differences(saved, documents),
        *_template_differences(saved, documents),
        *_runtime_differences(saved, documents),
    )


def _option_differences(has: ClusterOptions, asked: Resolved) -> list[str]:
    skipped = SELECTION | {"extra_args"}
    found = []
    for spelling in spellings(has):
        name = spelling.field
        if name not in asked.chosen or name in skipped or spelling.owner in _HOW_NOT_WHAT:
            continue
        now, want = value_of(has, spelling), value_of(asked.options, spelling)
        is_unset = not isinstance(want, bool) and want in ("", 0, ())
        if want != now and not is_unset:
            found.append(_difference(spelling.flag or spelling.key, now, want))
    return found


def _difference(option: str, has: object, want: object) -> str:
    return f"{option}: it has {_in_words(has)}, requested {_in_words(want)}"


def _in_words(value: object) -> str:
    """Write a value as a person gives it: a list with commas, a switch as on or off."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple | list):
        value = ",".join(map(str, value))
    if value == "":
        return "none"
    return str(value) if isinstance(value, int) else f"'{value}'"


def _argument(value: str | None) -> str:
    """Return the value of an argument; a bare one is a switch that is on."""
    return "true" if value is None else value


def _component_differences(saved: Saved, asked: Resolved) -> list[str]:
    if not asked.chosen & SELECTION:
        return []
    want = selected(replace(asked.options, extras=saved.options.extras))
    missing = [
        f"it has no component '{n}', which is requested" for n in want if n not in saved.names
    ]
    extra = [
        f"it has the component '{n}', which is not requested" for n in saved.names if n not in want
    ]
    return missing + extra


def _extra_differences(saved: Saved, asked: Resolved) -> Iterator[str]:
    for want in asked.options.extras:
        has = saved.options.described(want.name)
        if has is None:
            yield f"it has no component '{want.name}', which is requested"
        elif has != _with_ports_of(has, want):
            yield f"{EXTRAS}: it has another description of '{want.name}'"


def _with_ports_of(has: ExtraComponent, want: ExtraComponent) -> ExtraComponent:
    """Take the ports that were chosen for an add-on, where it accepts any port."""
    names = [[port.name for port in each.ports] for each in (has, want)]
    return replace(want, ports=has.ports) if want.add_on and names[0] == names[1] else want


def _patch_differences(saved: Saved, asked: Resolved, documents: Sequence[Document]) -> list[str]:
    found = []
    for name, want in wanted_patches(asked.options, documents).items():
        has = saved.patches.get(name, ComponentPatch(name=name))
        found += [
            _difference(f"--extra-args {name}={key}", _argument(has.args.get(key, "")), value)
            for key, given in want.args.items()
            if has.args.get(key, "") != given
            for value in [_argument(given)]
        ]
        if has.then(replace(want, args={})) != has:
            found.append(f"{FIELD}: it has other variables, volumes or removals for '{name}'")
    return found


def _stage_differences(saved: Saved, documents: Sequence[Document]) -> list[str]:
    """Compare the user's own Stages alone: those of a set may change with a release."""
    want = [document.body for document in documents if document.kind == "Stage"]
    if not want:
        return []
    shipped = {stage for each in shipped_sets().values() for stage in each.stages}
    others: list[Mapping[str, Json]] = [body for body in saved.stages if body not in want]
    are_there = all(body in saved.stages for body in want)
    if are_there and all(body["metadata"]["name"] in shipped for body in others):
        return []
    return ["it has other Stage documents"]


def _kept_differences(saved: Saved, documents: Sequence[Document]) -> list[str]:
    want = kept_documents(saved.options, documents)
    asked = {body["kind"] for body in want} & {document.kind for document in documents}
    same = all(_of_kind(kind, want) == _of_kind(kind, saved.kept) for kind in asked)
    return [] if same else ["documents for the controller: they are not the same"]


def _template_differences(saved: Saved, documents: Sequence[Document]) -> list[str]:
    """Name the templates for `scale` that it has otherwise; others of that file may be new."""
    has = {_name(body): body for body in saved.templates}
    want = {_name(body): body for body in resource_templates(documents)}
    return [
        f"it has another {FOR_SCALE} called '{name}'"
        for name in want
        if name in has and want[name] != has[name]
    ]


def _name(body: Mapping[str, Json]) -> str:
    return str((body.get("metadata") or {}).get("name") or "")


def _of_kind(kind: str, bodies: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    return [body for body in bodies if body.get("kind") == kind]


def _runtime_differences(saved: Saved, documents: Sequence[Document]) -> list[str]:
    want = [document.body for document in documents if document.kind == FOR_RUNTIME]
    same = not want or want == list(saved.documents)
    return [] if same else [f"it has another document of kind '{FOR_RUNTIME}'"]
