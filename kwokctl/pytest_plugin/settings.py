"""The options of pytest, and the keys of its configuration file, that are about clusters."""

from collections.abc import Mapping

import pytest

from kwokctl.errors import UsageError
from kwokctl.json_value import Json
from kwokctl.pytest_plugin.needs import Needs, needs_of

_FILES = {
    "crds": "CustomResourceDefinitions that are there in every test",
    "stages": "Stages that every test finds",
    "objects": "other objects that every test finds",
    "webhooks": "configurations of webhooks that every test finds",
}
_NUMBERS = {"nodes": "fake nodes that every test finds", "pods": "pods that every test finds"}
_REST = "0.5"
_LINES = 20


def add_options(parser: pytest.Parser) -> None:
    """Declare all of them."""
    group = parser.getgroup("kwok", "clusters of kwokctl")
    group.addoption("--kwok-cluster", metavar="NAME", default="", help="run tests in an existing cluster, which is rewound at the end, and kept")  # fmt: skip
    group.addoption("--kwok-from", metavar="NAME", default="", help="run tests in a fork of an existing cluster")  # fmt: skip
    group.addoption("--kwok-keep", action="store_true", help="keep the clusters of the run")
    group.addoption("--kwok-reports", metavar="FOLDER", default="", help="keep reports and records of failed tests with the fixture 'measured' in this folder")  # fmt: skip
    group.addoption("--kwok-log-lines", metavar="N", type=int, default=_LINES, help="warning lines of each component in the report of a failed test; 0 for none")  # fmt: skip
    parser.addini("kwok_options", "options of the cluster, as KEY=VALUE: those of 'kwokctl create cluster'", type="linelist")  # fmt: skip
    parser.addini("kwok_rest", "seconds without writes before the cluster is marked", default=_REST)  # fmt: skip
    for name, text in _NUMBERS.items():
        parser.addini(f"kwok_{name}", text, default="")
    for name, text in _FILES.items():
        parser.addini(f"kwok_{name}", f"files or folders of {text}", type="linelist")


def cluster_options(config: pytest.Config) -> Mapping[str, Json]:
    """Return the options of the clusters that are made."""
    found: dict[str, Json] = {}
    for line in config.getini("kwok_options"):
        key, equals, value = line.partition("=")
        if not equals:
            raise UsageError(f"kwok_options: '{line}' is not KEY=VALUE")
        found[key.strip().removeprefix("--").replace("-", "_")] = value.strip()
    return found


def rest_of(config: pytest.Config) -> float:
    """Return how long nothing may have been written before a mark."""
    text = config.getini("kwok_rest")
    try:
        return float(text)
    except ValueError as e:
        raise UsageError(f"kwok_rest is '{text}', not a number of seconds") from e


def needs_of_all(config: pytest.Config) -> Needs:
    """Return what every test needs."""
    words: dict[str, object] = {name: config.getini(f"kwok_{name}") for name in _FILES}
    for name in _NUMBERS:
        text = config.getini(f"kwok_{name}")
        if text:
            words[name] = int(text) if text.isdecimal() else text
    folder = config.inipath.parent if config.inipath else config.rootpath
    return needs_of(words, folder, "the configuration of pytest, kwok_*")
