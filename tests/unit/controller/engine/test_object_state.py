"""The state of an object is changed by the engine alone: the others return what they have found."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kwokctl.controller.engine import object_state
from kwokctl.controller.engine.object_state import ObjectState

CONTROLLER = Path(object_state.__file__).parents[1]
WRITERS = {CONTROLLER / "engine" / name for name in ("engine.py", "object_state.py")}
CACHE = {"opened"}
"""What anybody may call: the object is the same, and only decoded."""


@cache
def changing_methods() -> set[str]:
    """Return the methods of a state that change it, themselves or by another one."""
    tree = ast.parse(Path(object_state.__file__).read_text())
    [state] = [
        each
        for each in tree.body
        if isinstance(each, ast.ClassDef) and each.name == ObjectState.__name__
    ]
    methods = [each for each in state.body if isinstance(each, ast.FunctionDef)]
    changing = {each.name for each in methods if any(assigned(each, {"self"}))}
    for _ in methods:
        changing |= {each.name for each in methods if any(called(each, {"self"}, changing))}
    return changing - CACHE - {"__init__"}


def assigned(tree: ast.AST, names: set[str]) -> Iterator[ast.Attribute]:
    """Yield where an attribute of one of some variables gets another value."""
    yield from (each for each in attributes(tree, names) if not isinstance(each.ctx, ast.Load))


def called(tree: ast.AST, names: set[str], methods: set[str]) -> Iterator[ast.Attribute]:
    """Yield where a method of one of some variables is used."""
    yield from (each for each in attributes(tree, names) if each.attr in methods)


def attributes(tree: ast.AST, names: set[str]) -> Iterator[ast.Attribute]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name)) if name in names:
                yield node
            case _:
                pass


def states_of(tree: ast.AST) -> set[str]:
    """Return the variables that hold the state of an object."""
    found = {"state"}
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name, annotation=ast.expr() as annotation):
                found |= {name} if ObjectState.__name__ in ast.unparse(annotation) else set()
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                found |= {name} if ObjectState.__name__ in ast.unparse(annotation) else set()
            case _:
                pass
    return found


def changes(source: str) -> list[str]:
    tree = ast.parse(source)
    names = states_of(tree)
    found = (*assigned(tree, names), *called(tree, names, changing_methods()))
    return [f"{each.lineno}: {ast.unparse(each)}" for each in found]


def test_only_the_engine_changes_the_state_of_an_object() -> None:
    others = set(CONTROLLER.rglob("*.py")) - WRITERS
    found = {str(path.relative_to(CONTROLLER)): changes(path.read_text()) for path in others}

    assert {path: lines for path, lines in found.items() if lines} == {}
    assert len(others) > 100


@pytest.mark.parametrize(
    "line",
    [
        "state.step += 1",
        "state.basis = state.setbacks = None",
        "each.due, other = 1.0, 2",
        "del each.form",
        "state.rest()",
        "each.follow(written)",
        "do(state.fold)",
    ],
)
def test_a_change_is_found(line: str) -> None:
    assert changes(f"def look(each: ObjectState | None) -> None:\n    {line}\n")


def test_the_methods_that_change_a_state_are_known() -> None:
    assert changing_methods() == {"fold", "follow", "liken", "release", "rest", "show"}
