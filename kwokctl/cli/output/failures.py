"""Writes errors: as lines for people, or one JSON object per error for programs."""

import errno
from collections.abc import Iterator, Sequence

from kwokctl.cli.output.console import Console
from kwokctl.errors import KwokctlError

_PASSED_THROUGH = frozenset({"kubectl", "etcdctl", "kectl"})
_OUTPUT = ("-o", "--output")


def wants_json(words: Sequence[str]) -> bool:
    """Return whether the command asks for JSON, whether or not the command is right."""
    if _PASSED_THROUGH & set(words):
        return False
    pairs = zip(words, [*words[1:], ""], strict=True)
    spelled = ("-ojson", "-o=json", "--output=json")
    return any(w in spelled or (w in _OUTPUT and following == "json") for w, following in pairs)


def report(errors: Sequence[KwokctlError], console: Console, *, as_json: bool) -> None:
    """Write each error, what to do about it, and what a program said.

    As JSON it is one line an error: `{"error": {"id", "message", "hint", "output"}}`.
    """
    for error in errors:
        if as_json:
            console.line(_json(error))
            continue
        console.line(str(error).replace("\n", "\\n"), label="error:")
        if error.hint:
            console.line(error.hint, label="hint:")
        if error.detail:
            console.line(error.detail, label="output:")


def expected(error: BaseException) -> Iterator[KwokctlError]:
    """Yield the errors for the user that are in one that was raised.

    Tasks that fail together raise a group; one that holds anything else yields nothing.
    """
    if isinstance(error, KwokctlError):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        ours, others = error.split(KwokctlError)
        if others is None and ours is not None:
            for each in ours.exceptions:
                yield from expected(each)
    elif isinstance(error, OSError) and error.strerror:
        yield _of_machine(error)


def _of_machine(error: OSError) -> KwokctlError:
    what = (error.strerror or "").lower()
    hint = None
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "free space there, with 'kwokctl delete cluster' for example, then repeat"
    return KwokctlError(f"{what}: '{error.filename}'" if error.filename else what, hint=hint)


def _json(error: KwokctlError) -> str:
    import json

    body = {"id": error.id, "message": str(error), "hint": error.hint, "output": error.detail}
    return json.dumps({"error": body})
