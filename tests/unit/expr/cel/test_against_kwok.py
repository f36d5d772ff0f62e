import json
from pathlib import Path
from typing import Any

import pytest

from kwokctl.errors import ExpressionError
from kwokctl.expr import cel
from tests.support.cel_answers import first_place, plain, type_name

GOLDEN = Path(__file__).parents[3] / "golden"
FILES = {
    name: json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    for name in ("cel", "cel_random", "cel_matches")
}


def evaluate(case: dict[str, Any], objects: dict[str, Any]) -> Any:
    kind = case["kind"] if case["kind"] in {"Node", "Pod"} else None
    return cel.compile_cel(case["text"], kind).evaluate(objects[case["kind"]])


@pytest.mark.parametrize("name", FILES)
def test_expressions_come_to_what_they_come_to_in_kwok(name: str) -> None:
    objects = FILES[name]["objects"]
    before = json.dumps(objects)
    wrong = []
    for case in FILES[name]["cases"]:
        if "type" not in case:
            continue
        try:
            value = evaluate(case, objects)
            found = (type_name(value), plain(value))
        except ExpressionError as e:
            found = ("error", str(e))
        if found != (case["type"], case["value"]):
            wrong.append((case["kind"], case["text"], found, case["type"], case["value"]))

    assert wrong == []
    assert json.dumps(objects) == before, "the object is never changed"


@pytest.mark.parametrize("name", FILES)
def test_what_kwok_cannot_compile_is_refused_at_the_same_place(name: str) -> None:
    wrong = []
    for case in FILES[name]["cases"]:
        if "refused" in case:
            found = refusal(case)
            if found is None or (first_place(case["refused"]) or "line") not in found:
                wrong.append((case["kind"], case["text"], found, case["refused"]))

    assert wrong == []


def refusal(case: dict[str, Any]) -> str | None:
    try:
        cel.compile_cel(case["text"], case["kind"] if case["kind"] in {"Node", "Pod"} else None)
    except ExpressionError as e:
        return str(e)
    return None


@pytest.mark.parametrize("name", FILES)
def test_an_error_in_kwok_is_an_error_here(name: str) -> None:
    cases = [case for case in FILES[name]["cases"] if "fails" in case]
    assert cases
    for case in cases:
        with pytest.raises(ExpressionError, match=r"^CEL '|is not a regular expression"):
            evaluate(case, FILES[name]["objects"])
