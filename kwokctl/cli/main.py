"""Where the command starts, and the one place that turns an error into an exit code."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kwokctl.cli.invocation import Runner

_BY_INTERRUPT = 2
_READER_GONE = 128 + 13


def main() -> None:
    """Run the command with this process's words."""
    sys.exit(run(sys.argv[1:]))


def run(words: Sequence[str], runner: "Runner | None" = None) -> int:
    """Run the command and return its exit code; `runner` stands in for what runs the verbs.

    1 is an error, 2 are wrong words, 128 and more a signal; what is not an error of ours is a bug
    and keeps its traceback.
    """
    if words == ["--version"]:
        from kwokctl.cli.version import version_line

        print(version_line())  # noqa: T201 - a result
        return 0
    import os

    from kwokctl.cli import failures, results
    from kwokctl.cli.console import choose

    console = choose(sys.stderr, os.environ)
    try:
        from kwokctl.cli.app import invoke

        return invoke(words, console, runner)
    except KeyboardInterrupt as e:
        return 128 + (e.args[0] if e.args else _BY_INTERRUPT)
    except Exception as e:
        if isinstance(e, BrokenPipeError) and results.reader_is_gone():
            return _READER_GONE
        errors = list(failures.expected(e))
        if not errors:
            raise
        failures.tell(errors, console, as_json=failures.wants_json(words))
        return max(error.exit_code for error in errors)
