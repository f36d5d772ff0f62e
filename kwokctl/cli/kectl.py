"""The command `kectl`: `kwokctl etcd` for the etcd that `--endpoints` names."""

import sys
from collections.abc import Sequence

from kwokctl.cli import main as kwokctl
from kwokctl.cli.verbs.direct_etcd.login import DEFAULT_ENDPOINT

_NAMED = frozenset({"--endpoints", "--name", "-h", "--help"})


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command with this process's words."""
    words = list(sys.argv[1:] if argv is None else argv)
    kwokctl.main(["kectl", *with_endpoint(words)])


def with_endpoint(words: Sequence[str]) -> list[str]:
    """Name etcd's usual address if the words name neither an address nor a cluster."""
    is_named = any(word.partition("=")[0] in _NAMED for word in words)
    return [*words] if is_named or not words else [f"--endpoints={DEFAULT_ENDPOINT}", *words]
