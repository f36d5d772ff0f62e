"""Every option of clusters in every place, with values that it does not take.

`tests/cli/test_bad_values.py` shows that the command line passes a value on to the reading that is tried here.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kwokctl.components.catalog import usual_options
from kwokctl.config.config_documents import Document
from kwokctl.config.declaring import Spelling
from kwokctl.config.options import spellings
from kwokctl.config.resolve import resolve_options
from kwokctl.errors import ConfigError, UsageError
from tests.support import bad_values

_TYPED: tuple[Any, ...] = (
    True,
    -1,
    70_000,
    2**70,
    1.5,
    float("nan"),
    [],
    [1],
    ["two words"],
    {},
    {"a": 1},
)
_OPTIONS = spellings(usual_options())
_NUMBERS = [s for s in _OPTIONS if s.type is int]
_SWITCHES = [s for s in _OPTIONS if s.type is bool]
_TEXTS = [s for s in _OPTIONS if s.flag in bad_values.READ_WITH_KEYS]


def _said(read: Callable[[], object]) -> str:
    """Return the error that reading ends with; empty if there is none."""
    try:
        read()
    except (ConfigError, UsageError) as e:
        return str(e)
    return ""


def _given(spelling: Spelling, value: Any) -> None:
    document = Document(
        kind="KwokctlConfiguration",
        api_version="",
        name="",
        body={"kind": "KwokctlConfiguration", "options": {spelling.key: value}},
        source="kwok.yaml",
    )
    resolve_options(usual_options(), {}, {}, [document])


@pytest.mark.parametrize("spelling", [s for s in _OPTIONS if s.env], ids=lambda s: s.env)
def test_a_variable_is_read_or_named(
    spelling: Spelling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad_values.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    for value in bad_values.VALUES:
        said = _said(partial(resolve_options, usual_options(), {}, {spelling.env: value}, []))
        assert not said or said.startswith(f"{spelling.env} is '{value}', ")
        assert said or value == "" or spelling not in (*_NUMBERS, *_SWITCHES)


@pytest.mark.parametrize("spelling", _TEXTS, ids=lambda s: s.flag)
def test_a_flag_takes_what_its_documentation_says(
    spelling: Spelling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad_values.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    for value in bad_values.VALUES:
        chosen = {spelling.field: value}
        said = _said(partial(resolve_options, usual_options(), chosen, {}, []))
        is_taken = bad_values.takes("create cluster", spelling.flag, spelling.metavar, value)
        assert value == "" or is_taken == (not said), f"{value!r}: {said}"


@pytest.mark.parametrize("spelling", [s for s in _OPTIONS if s.key], ids=lambda s: s.key)
def test_a_key_is_read_or_named(
    spelling: Spelling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad_values.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    for value in (*bad_values.VALUES, *_TYPED):
        said = _said(partial(_given, spelling, value))
        assert not said or said.startswith(f"kwok.yaml: options.{spelling.key} ")
        assert said or spelling not in _NUMBERS or value == 70_000


@pytest.mark.parametrize("spelling", _NUMBERS, ids=lambda s: s.key)
def test_a_number_is_within_its_bounds_wherever_it_is_given(spelling: Spelling) -> None:
    least, most = spelling.within
    for value in (least, most):
        _given(spelling, value)
        resolve_options(usual_options(), {spelling.field: value}, {}, [])
    for value in (least - 1, most + 1):
        with pytest.raises(ConfigError, match=f"'{value}'"):
            _given(spelling, value)
