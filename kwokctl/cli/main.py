"""Starts the command, and turns errors into exit codes."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kwokctl.cli.output import characters, standard_streams

if TYPE_CHECKING:
    from kwokctl.cli.invocation import Runner
    from kwokctl.cli.output.console import Console

_GARBAGE = 100_000
"""New objects until a garbage collection: modules are kept, and it takes a twelfth of the start."""
_BY_INTERRUPT = 2
_READER_GONE = 128 + 13
_NEVER_TO_OTHERS = 0o022
"""Permissions that no file gets, in addition to the user's umask: write by group or others."""


def main(words: Sequence[str] | None = None) -> None:
    """Run the command with these words, by default those of this process.

    Whatever it and the components make, other users must not be able to change: clusters and programs
    are run from these files.
    """
    gc.set_threshold(_GARBAGE)
    standard_streams.take_closed()
    characters.follow_locale(os.environ)
    os.umask(os.umask(0) | _NEVER_TO_OTHERS)
    code = run(sys.argv[1:] if words is None else words)
    gc.freeze()  # what ends with the process need not be searched: with thousands of objects that takes 0.1 s
    sys.exit(code)


def run(words: Sequence[str], runner: "Runner | None" = None) -> int:
    """Run the command and return its exit code; `runner` replaces what runs the verbs.

    1 is an error, 2 invalid arguments, 128 and more a signal; any other exception is a bug
    and keeps its traceback.
    """
    try:
        if words == ["--version"]:
            from kwokctl.cli.version import version_line

            sys.stdout.write(f"{version_line()}\n")
            sys.stdout.flush()
            return 0
        from kwokctl.cli.app import invoke

        return invoke(words, _console(as_log=_logs_as_original(words)), runner)
    except KeyboardInterrupt as e:
        return 128 + (e.args[0] if e.args else _BY_INTERRUPT)
    except Exception as e:
        return _failed(e, words)


def _failed(error: Exception, words: Sequence[str]) -> int:
    """Report an error, and return the exit code; raise an error that is a bug."""
    from kwokctl.cli.output import failures, results

    if isinstance(error, BrokenPipeError) and results.reader_is_gone():
        return _READER_GONE
    if results.is_unwritable() and isinstance(error, OSError):
        error = results.unwritable(error)
    errors = list(failures.expected(error))
    if not errors:
        raise error
    as_json = failures.wants_json(words)
    console = _console(as_log=not as_json and _logs_as_original(words))
    failures.report(errors, console, as_json=as_json)
    code = max(each.exit_code for each in errors)
    if code != 1 and _acts_as_original(words):
        return 1  # the original has no other code for an error
    return code


def _acts_as_original(words: Sequence[str]) -> bool:
    """Return whether the words, a variable or a document want the exit codes of the original."""
    from kwokctl.config.original import compat

    return compat.is_asked_for(words, os.environ) or compat.is_written(words, os.environ)


def _console(*, as_log: bool) -> "Console":
    from kwokctl.cli.output.console import choose

    return choose(sys.stderr, os.environ, as_log=as_log)


def _logs_as_original(words: Sequence[str]) -> bool:
    """Return whether the log is to be the original's; what says so is looked at only where it is given."""
    if "KWOK_COMPAT" not in os.environ and not any(each.startswith("--compat") for each in words):
        return False
    from kwokctl.config.original import compat

    return compat.is_asked_for(words, os.environ)
