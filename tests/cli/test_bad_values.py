"""Every option of every verb, with values that it does not take: an error line, and nothing is made.

The options are those of the command tree and of the table of options, so new ones are covered by
themselves. All values are tried with the first verb that reads an option by the same function. Wherever else it
is, a few show that it is read so there; the same holds for switches, which take no value, and for options of
clusters that `tests/unit/config/test_every_place.py` tries with all values.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from kwokctl.cli import app
from kwokctl.cli.main import run
from kwokctl.cli.parsing.grammar import RawCommand
from tests.support import bad_values
from tests.support.reaching_runner import ReachingRunner

_FILLED = {
    "kind": "node",
    "component": "etcd",
    "log": "etcd",
    "ports": "0:1",
    "shell": "bash",
    "files": "x",
    "file": bad_values.RECORD,
    "folder": "folder",
    "add_on": "jobset",
    "class_name": "xid-79",
    "schedule": "night",
    "node": "node-000000",
}
"""What the other arguments of a verb are meanwhile."""
_BESIDE: dict[tuple[str, ...], dict[str, str]] = {
    ("stage", "explain"): {"object": "file.yaml"},
    ("artifacts", "pull"): {"to": "carried"},
    ("artifacts", "build"): {"to": "carried"},
    ("etcd", "get"): {"endpoints": "127.0.0.1:1"},
    ("etcd", "put"): {"endpoints": "127.0.0.1:1"},
    ("etcd", "delete"): {"endpoints": "127.0.0.1:1", "all": "true", "resource": "pods"},
    ("etcd", "snapshot", "record"): {"endpoints": "127.0.0.1:1"},
    ("etcd", "snapshot", "replay"): {"endpoints": "127.0.0.1:1"},
    ("fault", "inject"): {"count": "1"},
    ("fault", "clear"): {"all": "true"},
    ("fault", "run"): {"file": bad_values.FILE},
    ("load", "run"): {"files": bad_values.FILE},
    ("measure", "compare"): {"run-a": "true", "run-b": "true"},
    ("repair", "start"): {"action": "reboot"},
    ("scale",): {"replicas": "1"},
}
"""What a verb needs meanwhile, where an argument could stand in its place; arguments beside options only."""
_EVERYWHERE = ("name", "config", "dry_run", "level")
_SHOWN = ("get", "components")
"""The verb with which those are tried that every verb has, and reads in one place."""


def _verbs(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, below in getattr(command, "commands", {}).items():
        yield from _verbs(below, (*words, name))
    if words and not hasattr(command, "commands") and not isinstance(command, RawCommand):
        yield words, command


def _params() -> Iterator[tuple[tuple[str, ...], Any]]:
    for words, params in _params_of().items():
        for param in params:
            if param.name != "help" and (words == _SHOWN or param.name not in _EVERYWHERE):
                yield words, param


@cache
def _params_of() -> Mapping[tuple[str, ...], Sequence[Any]]:
    """Return the parameters of each verb."""
    tree = app.build()
    # With the settings of the tree: a command keeps the names of its option for help.
    here = typer.Context(tree, **tree.context_settings)
    return {words: command.get_params(here) for words, command in _verbs(tree)}


def _cases() -> Iterator[tuple[tuple[str, ...], Any, Sequence[str]]]:
    """Return each parameter of each verb with the values that are tried."""
    tried: set[tuple[str, object]] = {(flag, "create") for flag in bad_values.READ_WITH_KEYS}
    for words, param in _params():
        place = (_spelled(param), _reader(words, param))
        is_tried = place in tried or getattr(param, "is_flag", False)
        yield words, param, bad_values.FEW if is_tried else bad_values.VALUES
        tried.add(place)


def _reader(words: tuple[str, ...], param: Any) -> object:
    """Return the function that reads a value, or else the group whose verbs read it in one place."""
    return getattr(param.type, "func", words[0])


def _spelled(param: Any) -> str:
    return str(param.opts[0] if param.param_type_name == "option" else param.name)


def _call(words: tuple[str, ...], param: Any, value: str) -> list[str]:
    """Write a call of a verb in which one parameter has a value, and the others what they need."""
    options, arguments = [], []
    beside = dict(_BESIDE.get(words, {}) if param.name != "target" else {})
    beside.pop(param.name, None)
    for each in _params_of()[words]:
        if each.param_type_name == "argument" and (each.name == param.name or each.required):
            arguments.append(value if each.name == param.name else _FILLED[each.name])
        elif each.param_type_name == "option" and each.name == param.name:
            options.append(f"{_spelled(each)}={value}")
        elif each.required:
            options.append(f"{_spelled(each)}={beside.pop(each.name, 'x')}")
        elif param.name == "set_name" and each.name == "set_name":
            arguments.append(value)
        elif each.param_type_name == "argument" and each.name in beside:
            word = beside.pop(each.name)
            arguments += [word] if param.param_type_name == "option" else []
    options += [
        f"--{name}={word}" for name, word in beside.items() if f"--{name}" != _spelled(param)
    ]
    return [*words, *options, "--", *arguments]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a working folder in which nothing else is."""
    for name, folder in (("HOME", "home"), ("KWOK_WORKDIR", "work"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    bad_values.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "param", "values"),
    [pytest.param(w, p, v, id=f"{' '.join(w)} {_spelled(p)}") for w, p, v in _cases()],
)
def test_a_value_that_an_option_does_not_take_is_one_error_line_and_makes_nothing(
    words: tuple[str, ...],
    param: Any,
    values: Sequence[str],
    here: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    wrong, before = [], sorted(here.rglob("*"))
    for value in values:
        metavar = "" if getattr(param, "is_flag", False) else str(param.metavar or "")
        is_taken = bad_values.takes(" ".join(words), _spelled(param), metavar, value)
        code = run(_call(words, param, value), ReachingRunner())
        said = [line for line in capfd.readouterr().err.splitlines() if line]
        after = sorted(here.rglob("*"))
        is_changed = code == 2 and after != before
        before = after
        if problem := _problem(code, said, is_taken if value else code != 2):
            wrong.append(f"{value!r} {problem}: {said}")
        elif is_changed:
            wrong.append(f"{value!r} has made something")
    assert not wrong, "\n".join(wrong)


def _problem(code: int, said: list[str], is_taken: bool) -> str:
    """Say what is wrong with an outcome; an empty value may be taken or refused, as options have it."""
    if code not in (0, 1, 2):
        return f"ends with {code}"
    if is_taken != (code != 2):
        return "is refused" if is_taken else f"is taken, and ends with {code}"
    heads = [line.partition(" ")[0] for line in said]
    if code == 2 and (heads.count("error:") != 1 or set(heads) - {"error:", "hint:", "warning:"}):
        return "is refused in more than one line"
    return ""
