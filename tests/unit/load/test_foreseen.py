"""A dry run of loads says what would be done, without a cluster."""

from pathlib import Path

import pytest

from kwokctl.errors import ConfigError
from kwokctl.load.foreseen_load import foreseen
from tests.support.load_rig import load_of

_POD = 'apiVersion: v1\nkind: Pod\nmetadata: {annotations: {cpu: "{{ .params.cpu }}"}}\n'


def test_arrivals_are_listed_with_their_times_and_what_they_create() -> None:
    load = load_of(
        {"every": "2s"},
        count=9,
        params={"cpu": {"integer": {"from": 1, "to": 9}}},
        create=[{"template": _POD}],
    )
    lines = foreseen([load], seed=3, speed=2.0).splitlines()
    assert lines[0] == "Load 'web': create, 9 arrivals in 8.000 s"
    assert lines[1].startswith('  at 0.000 s: Pod web-0 {"cpu": ')
    assert lines[5].startswith("  at 4.000 s: Pod web-4 ")
    assert lines[6] == "  the first arrival:"
    assert "        kwokctl.dev/load: web" in lines
    assert foreseen([load], seed=3, speed=2.0).splitlines() == lines
    assert foreseen([load], seed=4, speed=2.0).splitlines() != lines


def test_commands_and_what_is_waited_for_are_shown() -> None:
    load = load_of(
        {"concurrency": 2},
        count=3,
        after="",
        as_="alice",
        waitFor={"what": "nodes", "condition": "Ready"},
        hooks={"before": ["echo one"], "after": ["echo two"]},
    )
    lines = foreseen([load], seed=0, speed=1.0).splitlines()
    assert lines[0] == "Run: echo one"
    assert lines[1] == "Load 'web': create, 3 arrivals, when waited for: nodes Ready, as 'alice'"
    assert lines[2] == "  in turn: Pod web-0"
    assert lines[-1] == "Run: echo two"


def test_a_template_that_does_not_render_is_named() -> None:
    load = load_of({"at": ["0s"]}, folder=Path(), create=[{"template": '{{ fail "no" }}'}])
    with pytest.raises(ConfigError, match=r"'spec.create\[0\]' does not render: .*no"):
        foreseen([load], seed=0, speed=1.0)
