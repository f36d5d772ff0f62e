"""Documents of kind KwokConfiguration: the options of the controller, checked."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kwokctl.config import checks
from kwokctl.config.config_documents import Document
from kwokctl.config.nearest import did_you_mean
from kwokctl.embedded.selection import requirements
from kwokctl.errors import UsageError
from kwokctl.json_value import Json
from kwokctl.kube.names import is_subdomain

KIND = "KwokConfiguration"
_CRDS = "enableCRDs"
_MOST_PARALLEL_PLAYS = 10_000
_WORDS = {int: "a whole number", bool: "true or false", str: "a string", list: "a list of strings"}


def _selector(text: str) -> checks.InvalidText | None:
    try:
        requirements(text)
    except UsageError as e:
        return checks.InvalidText("not a selector", e.hint or "")
    return None


def _node_name(text: str) -> checks.InvalidText | None:
    if is_subdomain(text):
        return None
    return checks.InvalidText("not a name of a node", "for example: node-000000")


class ControllerOption(msgspec.Struct, frozen=True):
    """An option of the controller."""

    default: Json
    check: checks.Check = checks.text
    within: tuple[int, int] = (0, _MOST_PARALLEL_PLAYS)
    missing: str = ""
    """Why the embedded components do nothing with it, and nothing depends on it; empty if they do."""
    original: Json = None
    """The original's default where it differs from ours."""


_NO_CONTENTION = "the embedded components run on one thread, so no lock is contended"
_ONE_WAY = "kwokctl has one way to list the pods of a node"
WITHOUT_SPANS = "the embedded components send no spans; --tracing-endpoint has the API server and etcd send theirs"
OPTIONS: Mapping[str, ControllerOption] = {
    "kubeconfig": ControllerOption(""),
    "cidr": ControllerOption("10.0.0.0/24", checks.network),
    "nodeIP": ControllerOption("", checks.address),
    "nodeName": ControllerOption("", checks.host_name),
    "nodePort": ControllerOption(0, within=checks.PORTS),
    "tlsCertFile": ControllerOption(""),
    "tlsPrivateKeyFile": ControllerOption(""),
    "manageSingleNode": ControllerOption("", _node_name),
    "manageAllNodes": ControllerOption(False),
    "manageNodesWithAnnotationSelector": ControllerOption("", _selector),
    "manageNodesWithLabelSelector": ControllerOption("", _selector),
    "disregardStatusWithAnnotationSelector": ControllerOption("", _selector),
    "disregardStatusWithLabelSelector": ControllerOption("", _selector),
    "serverAddress": ControllerOption(""),
    "nodeLeaseDurationSeconds": ControllerOption(0, within=checks.INT32),
    "podPlayStageParallelism": ControllerOption(0, original=4),
    "nodePlayStageParallelism": ControllerOption(0, original=4),
    "nodeLeaseParallelism": ControllerOption(0, original=4),
    "podsOnNodeSyncParallelism": ControllerOption(0, original=1),
    _CRDS: ControllerOption([], checks.resource_kind),
    "enableContentionProfiling": ControllerOption(False, missing=_NO_CONTENTION),
    "enableDebuggingHandlers": ControllerOption(True),
    "enablePodsOnNodeSyncListPager": ControllerOption(True, missing=_ONE_WAY),
    "enablePodsOnNodeSyncStreamWatch": ControllerOption(False, missing=_ONE_WAY),
    "enableProfilingHandler": ControllerOption(False, original=True),
}

DEFAULTS: Mapping[str, Json] = {name: option.default for name, option in OPTIONS.items()}
SELECTING = (
    "manageSingleNode",
    "manageAllNodes",
    "manageNodesWithAnnotationSelector",
    "manageNodesWithLabelSelector",
)
"""The options that select the nodes to manage."""
CUSTOM_KINDS = frozenset({"Stage"})
"""Kinds of documents that this controller reads from the API server, too; others are the kubelet's."""


def given_options(documents: Sequence[Document]) -> dict[str, Json]:
    """Merge the options of every KwokConfiguration; a later document overrides an earlier one.

    Raises ConfigError, naming the place, for an unknown option and for a bad value.
    """
    options: dict[str, Json] = {}
    for document in documents:
        if document.kind == KIND:
            options.update(_checked_options(document))
    return options


def idle_options(documents: Sequence[Document]) -> dict[str, str]:
    """Return the options with which the embedded components do nothing, by place, with the reason."""
    return {
        f"'{KIND}.options.{name}'": OPTIONS[name].missing
        for name, value in given_options(documents).items()
        if OPTIONS[name].missing and value != OPTIONS[name].default
    }


def asks_for_spans(documents: Sequence[Document]) -> bool:
    """Return whether a document asks for spans, which the embedded components do not send."""
    return any(each.kind == KIND and each.body.get("tracing") for each in documents)


def check_custom_kinds(kinds: Iterable[str]) -> None:
    """Raise UsageError for a kind that cannot be a custom resource."""
    for kind in sorted(set(kinds)):
        if found := checks.resource_kind(kind):
            raise UsageError(f"'{kind}' cannot be enabled: {found.problem}", hint=found.hint)


def _checked_options(document: Document) -> dict[str, Json]:
    document.check_fields(("options", "tracing"))
    options = document.body.get("options") or {}
    if not isinstance(options, Mapping):
        raise document.fault("options", "must be a mapping")
    return {
        name: _checked(document, name, value)
        for name, value in options.items()
        if value is not None or name not in OPTIONS
    }


def fault(name: str, value: Json) -> checks.InvalidText | None:
    """Return what is wrong with a value of the right type for the option called `name`."""
    option = OPTIONS[name]
    if isinstance(value, int) and not isinstance(value, bool):
        least, most = option.within
        if least <= value <= most:
            return None
        return checks.InvalidText("out of range", f"give a number from {least} to {most}")
    texts = value if isinstance(value, list) else [value]
    faults = (option.check(text) for text in texts if isinstance(text, str) and text)
    return next((found for found in faults if found), None)


def _checked(document: Document, name: str, value: Json) -> Json:
    field = f"options.{name}"
    option = OPTIONS.get(name)
    if option is None:
        raise document.fault(
            field, "is not an option of the controller", hint=did_you_mean(name, OPTIONS)
        )
    if type(value) is not type(option.default):
        raise document.fault(field, f"must be {_WORDS[type(option.default)]}, not '{value}'")
    if found := fault(name, value):
        raise document.fault(field, f"is '{value}', {found.problem}", hint=found.hint)
    return value
