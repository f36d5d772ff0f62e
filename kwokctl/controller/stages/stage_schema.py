"""The shape of a Stage document, `kwok.x-k8s.io/v1alpha1`, as its author writes it.

Field names are camelCase as in Kubernetes. A field that is not known is refused with its path,
so that a misspelt one is not silently without effect.
"""

from typing import Literal

from msgspec import Struct

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist"]


class _Shape(Struct, rename="camel", forbid_unknown_fields=True):
    """The base of all parts of a Stage."""


class CelShape(_Shape):
    """An expression in the language CEL."""

    expression: str


class JqShape(_Shape):
    """An expression in the language jq."""

    expression: str


class JqConditionShape(_Shape):
    """A condition on the results of a jq expression."""

    key: str
    operator: Operator
    values: list[str] = []


class ConditionShape(_Shape):
    """One of `matchExpressions`; `key`, `operator` and `values` are the old spelling of `jq`."""

    jq: JqConditionShape | None = None
    cel: CelShape | None = None
    key: str = ""
    operator: Operator | None = None
    values: list[str] = []


class SelectorShape(_Shape):
    """The objects that a Stage matches: all given conditions must hold."""

    match_labels: dict[str, str] = {}
    match_annotations: dict[str, str] = {}
    match_expressions: list[ConditionShape] = []


class SourceShape(_Shape):
    """The expression of a value; `expressionFrom` is the old spelling of `jq.expression`."""

    jq: JqShape | None = None
    cel: CelShape | None = None
    expression_from: str = ""


class DelayShape(_Shape):
    """The delay of a Stage before its steps."""

    duration_milliseconds: int | None = None
    duration_from: SourceShape | None = None
    jitter_duration_milliseconds: int | None = None
    jitter_duration_from: SourceShape | None = None


class EventShape(_Shape):
    """A Kubernetes event to create."""

    type: str = ""
    reason: str = ""
    message: str = ""


class FinalizerShape(_Shape):
    """One finalizer."""

    value: str


class FinalizersShape(_Shape):
    """The changes of an object's finalizers."""

    add: list[FinalizerShape] = []
    remove: list[FinalizerShape] = []
    empty: bool = False


class ImpersonationShape(_Shape):
    """The user that a write impersonates."""

    username: str


class PatchShape(_Shape):
    """A patch of the object itself."""

    template: str
    root: str = ""
    subresource: str = ""
    type: Literal["json", "merge", "strategic"] | None = None
    impersonation: ImpersonationShape | None = None


class ApplyShape(_Shape):
    """Any object to create or to patch."""

    template: str
    subresource: str = ""
    type: Literal["apply", "merge", "strategic"] | None = None
    impersonation: ImpersonationShape | None = None


class StepShape(_Shape):
    """The actions of a step, in the order event, finalizers, delete, patch, apply."""

    event: EventShape | None = None
    finalizers: FinalizersShape | None = None
    delete: bool = False
    patch: PatchShape | None = None
    apply: ApplyShape | None = None


class NextShape(_Shape):
    """The old spelling of `steps`."""

    event: EventShape | None = None
    finalizers: FinalizersShape | None = None
    delete: bool = False
    patches: list[PatchShape] = []
    status_template: str = ""
    status_subresource: str = "status"
    status_patch_as: ImpersonationShape | None = None


class ResourceRefShape(_Shape):
    """The kind of object of a Stage; `apiGroup` is "version" or "group/version"."""

    kind: str
    api_group: str = "v1"


class StageSpecShape(_Shape):
    """The spec of a Stage."""

    resource_ref: ResourceRefShape
    selector: SelectorShape | None = None
    weight: int = 0
    weight_from: SourceShape | None = None
    delay: DelayShape | None = None
    immediate_next_stage: bool = False
    steps: list[StepShape] = []
    next: NextShape | None = None


class MetadataShape(Struct):
    """The part of an object's metadata that a Stage needs."""

    name: str


class StageShape(Struct):
    """A Stage document."""

    spec: StageSpecShape
    metadata: MetadataShape
