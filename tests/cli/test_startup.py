"""What must not be loaded before it is needed; seconds are measured by the benchmarks."""

import subprocess
import sys

import pytest

SLOW = ("asyncio", "ssl", "http.client", "requests", "rich", "yaml", "grpc", "etcd3", "cryptography", "docker", "uvloop")  # fmt: skip
_PROGRAM = """
import sys
from kwokctl.cli.main import run
code = run({words!r})
print(*sorted(sys.modules), sep="\\n", file=sys.stderr)
sys.exit(code)
"""


def modules(*words: str) -> set[str]:
    """Return what is loaded after these words have been run in a process of their own."""
    program = [sys.executable, "-c", _PROGRAM.format(words=list(words))]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stderr.split())


def test_the_version_needs_next_to_nothing() -> None:
    loaded = modules("--version")
    assert not loaded & {*SLOW, "typer", "logging", "pathlib", "dataclasses"}


@pytest.mark.parametrize(
    "words", [("--help",), ("create", "cluster", "--help"), ("completion", "bash")]
)
def test_help_needs_no_event_loop_and_no_network(words: tuple[str, ...]) -> None:
    assert not modules(*words) & set(SLOW)
