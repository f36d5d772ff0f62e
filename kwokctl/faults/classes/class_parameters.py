"""The parameters of classes of faults, and the values that they accept."""

from collections.abc import Mapping

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration
from kwokctl.faults.classes.class_schema import FaultClassSpec, FaultParameter
from kwokctl.json_value import Json

GPU_PARAMETER = "gpu"
"""The parameter with the index of the GPU that is hit."""
_OF_DEVICES: Mapping[str, FaultParameter] = {
    GPU_PARAMETER: FaultParameter(
        about="the index of the GPU on its node", type="integer", minimum=0
    )
}
"""The parameters of every class whose scope is a device."""

USER_AGENT, USER, VERB, RESOURCE = "userAgent", "user", "verb", "resource"
"""The parameters that say which requests of the API are hit."""
_OF_API: Mapping[str, FaultParameter] = {
    USER_AGENT: FaultParameter(
        about="the clients that are hit, by what they call themselves, such as kube-scheduler/*; empty for all",
        type="text",
        default="",
    ),
    USER: FaultParameter(
        about="the users that are hit, such as system:kube-scheduler; empty for all",
        type="text",
        default="",
    ),
    VERB: FaultParameter(
        about="the verbs that are hit: get, list, watch, create, update, patch, delete or deletecollection; "
        "empty for all",
        type="text",
        default="",
    ),
    RESOURCE: FaultParameter(
        about="the resources that are hit, such as pods, pods/status or leases.coordination.k8s.io; empty for all",
        type="text",
        default="",
    ),
}
"""The parameters of every class whose scope is the API; each is a pattern in which * stands for anything."""
LONGEST_TEXT = 4096
"""Characters of a text: it becomes part of what every node or pod that is hit shows."""
_SHOWN = 100
"""Characters of a wrong value that are shown."""
_OF_SCOPES: Mapping[str, Mapping[str, FaultParameter]] = {"device": _OF_DEVICES, "api": _OF_API}


def parameters_of(spec: FaultClassSpec) -> Mapping[str, FaultParameter]:
    """Return the parameters of a class by name."""
    return {**_OF_SCOPES.get(spec.scope, {}), **spec.parameters}


def value_problem(parameter: FaultParameter, value: Json) -> str | None:
    """Return what is wrong with a value; None if the parameter takes it."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"has {len(value):,} characters, more than {LONGEST_TEXT:,}"
    if not _has_type(parameter, value):
        return f"is '{value!s:.{_SHOWN}}', not {_TYPES[parameter.type]}"
    if parameter.choices and value not in parameter.choices:
        return f"is '{value}', not one of: {', '.join(parameter.choices)}"
    number = parse_duration(value) if parameter.type == "duration" else value
    if parameter.minimum is not None and number < parameter.minimum:
        return f"is {value}, less than {parameter.minimum:g}"
    if parameter.maximum is not None and number > parameter.maximum:
        return f"is {value}, more than {parameter.maximum:g}"
    return None


_TYPES = {
    "integer": "a whole number", "number": "a number", "duration": "a duration such as 90s", "text": "a text",
}  # fmt: skip


def _has_type(parameter: FaultParameter, value: Json) -> bool:
    match parameter.type:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "duration":
            return isinstance(value, str) and is_duration(value)
        case "text":
            return isinstance(value, str)


def is_duration(text: str) -> bool:
    """Return whether a text is a duration that is not negative."""
    try:
        return parse_duration(text) >= 0
    except ExpressionError:
        return False


def usual_values(spec: FaultClassSpec) -> dict[str, Json]:
    """Return a value for each parameter: its default, or the least one in place of a drawn one."""
    return {name: _usual(each) for name, each in parameters_of(spec).items()}


def _usual(parameter: FaultParameter) -> Json:
    if parameter.default is not None:
        return parameter.default
    if parameter.choices:
        return parameter.choices[0]
    least = parameter.minimum or 0
    return {"integer": int(least), "number": least, "duration": f"{least:g}s", "text": ""}[
        parameter.type
    ]
