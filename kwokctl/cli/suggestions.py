"""Formats the commands that messages suggest, so that they can be copied from the terminal."""

import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path

_NAME = "kwokctl"


def own_name() -> str:
    """Return how this command is called: as it was, unless its name alone leads to it, too."""
    called = Path(sys.argv[0])
    if called.name != _NAME:
        return _NAME
    with suppress(OSError):
        if (found := shutil.which(_NAME)) and called.samefile(found):
            return _NAME
    return shlex.quote(sys.argv[0])


def get_nodes(reach: str, itself: str) -> str:
    """Return the command that shows the nodes: with the kubectl on PATH, else with the one that kwokctl gets.

    `reach` is how the first finds the cluster, `itself` how kwokctl is called for it.
    """
    kubectl = f"kubectl {reach}" if shutil.which("kubectl") else f"{itself} kubectl"
    return f"{kubectl} get nodes"
