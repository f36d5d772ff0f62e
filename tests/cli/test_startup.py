"""What must not be loaded before it is needed; seconds are measured by the benchmarks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kwokctl.cli import app

SLOW = ("asyncio", "ssl", "http.client", "requests", "rich", "yaml", "grpc", "etcd3", "cryptography", "docker", "uvloop", "re2")  # fmt: skip
_PROGRAM = """
import sys
from kwokctl.cli.main import run
code = run({words!r})
print(*sorted(sys.modules), sep="\\n", file=sys.stderr)
sys.exit(code)
"""


def modules(*words: str, **more: str) -> set[str]:
    """Return what is loaded after these words have been run in a process of their own."""
    program = [sys.executable, "-c", _PROGRAM.format(words=list(words))]
    done = subprocess.run(
        program, env=os.environ | more, capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stderr.split())


def test_the_version_needs_next_to_nothing() -> None:
    loaded = modules("--version")
    assert not loaded & {*SLOW, "typer", "logging", "pathlib", "dataclasses"}


@pytest.mark.parametrize(
    "words", [("--help",), ("help",), ("create", "cluster", "--help"), ("completion", "bash")]
)
def test_help_needs_no_event_loop_and_no_network(words: tuple[str, ...]) -> None:
    assert not modules(*words) & set(SLOW)


@pytest.mark.parametrize(
    "words", [("",), ("create", "cluster", "--restart", ""), ("create", "cluster", "--runtime", "")]
)
def test_completion_loads_no_slow_module_either(words: tuple[str, ...]) -> None:
    assert not modules(*words, _KWOKCTL_COMPLETE="1") & set(SLOW)


@pytest.mark.parametrize("words", [("get", "clusters"), ("delete", "cluster")])
def test_what_only_reads_what_is_saved_of_clusters_compiles_no_templates(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    loaded = modules(*words, KWOK_WORKDIR=str(tmp_path), HOME=str(tmp_path), KUBECONFIG="")

    assert not loaded & {"cryptography", "grpc", "kwokctl.expr.gotemplate", "requests"}


def test_a_creation_without_objects_compiles_no_templates() -> None:
    program = """
import sys
from kwokctl.cli.verbs.populate import populate
import kwokctl.clusters.create
assert populate(None, [], [], wait=None, timeout=None) == []
print(*sys.modules)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert not set(ended.stdout.split()) & {"kwokctl.expr.gotemplate", "kwokctl.dataplane"}


@pytest.mark.parametrize("module", app.MODULES)
def test_a_module_registers_the_commands_for_which_it_is_loaded(module: str) -> None:
    assert set(app.registered(module)) == set(app.MODULES[module])


def test_a_command_loads_no_other_command(tmp_path: Path) -> None:
    loaded = modules(
        "get", "clusters", KWOK_WORKDIR=str(tmp_path), HOME=str(tmp_path), KUBECONFIG=""
    )

    assert "kwokctl.cli.verbs.get" in loaded
    assert not loaded & {"kwokctl.cli.verbs.cluster", "kwokctl.cli.verbs.artifacts"}
