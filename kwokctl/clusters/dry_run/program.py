"""kwokctl itself in a script: for certificates, tokens and whatever else a shell cannot do."""

import shlex
import sys

from kwokctl.model import ClusterName
from kwokctl.script.steps import Call, ShellFunction

# Not what is called kwokctl on the PATH: it may be another program, or another version.
_KWOKCTL = ShellFunction(
    "kwokctl",
    f"""\
kwokctl() {{
  {shlex.quote(sys.executable)} -P -m kwokctl "$@" </dev/null
}}""",
)


def kwokctl(name: ClusterName | None, *words: str) -> Call:
    """Return a call of kwokctl for a cluster."""
    return Call(_KWOKCTL, (*(("--name", name) if name else ()), *words))


def plumbing(name: ClusterName, *words: str) -> Call:
    """Return a call of one of the commands that only scripts use."""
    return kwokctl(name, "plumbing", *words)
