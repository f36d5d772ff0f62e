"""The values that a fault is given: which a class knows, and which of them it takes."""

from collections.abc import Mapping

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration
from kwokctl.faults.class_schema import FaultClassSpec, FaultParameter
from kwokctl.json_value import Json

_OF_DEVICES: Mapping[str, FaultParameter] = {
    "gpu": FaultParameter(about="the index of the GPU on its node", type="integer", minimum=0)
}
"""The parameters of every class whose scope is a device."""


def parameters_of(spec: FaultClassSpec) -> Mapping[str, FaultParameter]:
    """Return the parameters of a class by name."""
    return {**(_OF_DEVICES if spec.scope == "device" else {}), **spec.parameters}


def value_problem(parameter: FaultParameter, value: Json) -> str | None:
    """Return what is wrong with a value; None if the parameter takes it."""
    if not _has_type(parameter, value):
        return f"is '{value}', not {_TYPES[parameter.type]}"
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
