"""Writes steps as a script for a POSIX shell. Pure."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatch

from kwokctl.model import HttpProbe
from kwokctl.script.steps import (
    Action,
    Assignment,
    Call,
    Command,
    Comment,
    Deadline,
    FileText,
    Folder,
    Script,
    ShellFunction,
    ShellLines,
    Until,
)
from kwokctl.waits import STARTING

_LATER = re.compile(r"__later_([a-z_]+?)__")
_EXPANDED = re.compile(r"([\\$`])")
"""The characters that a shell expands in a here-document whose end is not quoted."""
_WIDTH = 100

WITHIN = ShellFunction(
    "within",
    """\
# Fails once the time that the waits may take is over.
within() {
  [ -z "$deadline" ] || [ "$(date +%s)" -lt "$deadline" ] || fail 'it takes longer than the timeout'
}""",
    uses=(
        FAIL := ShellFunction(
            "fail",
            """\
fail() {
  echo "error: $1" >&2
  exit 1
}""",
        ),
    ),
)


def written(script: Script) -> str:
    """Return a script as text.

    All of it is within braces, so that a shell reads it to its end before it runs anything: what
    its programs read is not the rest of it, and what was cut off does nothing.
    """
    parts = [
        f"# What this command would do, for sh: {script.command}",
        "{",
        "set -eu",
        # What kwokctl makes is never writable to others.
        "umask g-w,o-w",
        *(f"export {name}={quoted(value)}" for name, value in script.variables.items()),
        *(["deadline="] if any(isinstance(step, Until) for step in script.steps) else []),
        *(function.text for function in _functions(script.steps)),
        *map(line_of, _once(script.steps)),
        "}",
    ]
    return "\n".join(parts) + "\n"


@singledispatch
def line_of(step: Action) -> str:
    """Return one step as lines of shell, without a line end."""
    raise NotImplementedError(step)


@line_of.register
def _(step: ShellLines) -> str:
    return step.text


@line_of.register
def _(step: Comment) -> str:
    return "\n".join(f"# {line}".rstrip() for line in step.text.splitlines())


@line_of.register
def _(step: Folder) -> str:
    path = quoted(str(step.path))
    return f"mkdir -p {path}" + (f"\nchmod 700 {path}" if step.private else "")


@line_of.register
def _(step: FileText) -> str:
    path = quoted(str(step.path))
    return f"cat >{path} {_document(step.text)}\nchmod {step.mode:o} {path}"


@line_of.register
def _(step: Command) -> str:
    line = joined(step.words, step.env)
    if step.stdin:
        line += f" {_document(step.stdin)}"
    if step.unless:
        line = f"{joined(step.unless)} >/dev/null 2>&1 ||\n  {line}"
    return line


@line_of.register
def _(step: Call) -> str:
    return joined([step.function.name, *step.words])


@line_of.register
def _(step: Assignment) -> str:
    return f"{step.variable}=$({step.text})"


@line_of.register
def _(step: Deadline) -> str:
    return f"deadline=$(($(date +%s) + {step.seconds:.0f}))" if step.seconds else "deadline="


@line_of.register
def _(step: Until) -> str:
    return "\n".join(
        [
            f"until {joined(curl(step.probe))}; do",
            f"  {line_of(step.running)} || fail {quoted(f'{step.running.words[-1]} has exited')}",
            "  within",
            "  sleep 0.1",
            "done",
        ]
    )


def quoted(word: str) -> str:
    """Return a word as a shell reads it; what is known later is expanded."""
    if not _LATER.search(word):
        return shlex.quote(word)
    parts = _LATER.split(word)
    every = enumerate(parts)
    return "".join(f'"${{{part}}}"' if n % 2 else shlex.quote(part) for n, part in every if part)


def joined(words: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """Return a command, in more lines than one if it is long."""
    parts = [*(f"{name}={quoted(value)}" for name, value in (env or {}).items())]
    parts += map(quoted, words)
    return " \\\n  ".join(_filled(parts))


def _filled(parts: Iterable[str]) -> list[str]:
    lines: list[str] = []
    for part in _paired(parts):
        if lines and len(lines[-1]) + len(part) < _WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


def _paired(parts: Iterable[str]) -> Iterator[str]:
    """Keep an option and the word after it in one line, for that may be its value."""
    option = ""
    for part in parts:
        if option and part.startswith("-"):
            yield option
            option = ""
        if not option and part.startswith("--") and "=" not in part:
            option = part
        else:
            yield f"{option} {part}".lstrip()
            option = ""
    if option:
        yield option


def curl(probe: HttpProbe) -> list[str]:
    """Return the command that succeeds if a probe holds."""
    files = {"--cacert": probe.ca, "--cert": probe.cert, "--key": probe.key}
    return [
        *(
            "curl",
            "--silent",
            "--fail",
            "--noproxy",
            "*",
            "--max-time",
            f"{STARTING:.0f}",
            "--output",
            "/dev/null",
        ),
        *(word for option, file in files.items() if file for word in (option, str(file))),
        *(("--unix-socket", str(probe.socket)) if probe.socket else ()),
        probe.url,
    ]


def _document(text: str) -> str:
    """Return a here-document; its first line ends the command's."""
    lines = set(text.splitlines())
    end = "EOF"
    while end in lines:
        end += "_"
    body = text.removesuffix("\n")
    if not _LATER.search(text):
        return f"<<'{end}'\n{body}\n{end}"
    expanded = _LATER.sub(r"${\1}", _EXPANDED.sub(r"\\\1", body))
    return f"<<{end}\n{expanded}\n{end}"


def _once(steps: Iterable[Action]) -> Iterator[Action]:
    """Leave out that a folder is made which has been made before."""
    made: set[Folder] = set()
    for step in steps:
        if not isinstance(step, Folder):
            yield step
        elif step not in made:
            made.add(step)
            yield step


def _functions(steps: Iterable[Action]) -> Iterable[ShellFunction]:
    """Return what the steps call, each once, after what it calls itself."""
    found: dict[str, ShellFunction] = {}
    for step in steps:
        for function in _called(step):
            _gather(function, found)
    return found.values()


def _called(step: Action) -> Iterator[ShellFunction]:
    if isinstance(step, Call):
        yield step.function
    if isinstance(step, Until):
        yield from (step.running.function, WITHIN)


def _gather(function: ShellFunction, found: dict[str, ShellFunction]) -> None:
    for used in function.uses:
        _gather(used, found)
    found.setdefault(function.name, function)
