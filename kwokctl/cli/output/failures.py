"""Writes errors: as lines for people, or one JSON object per error for programs."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from kwokctl.cli.output.console import Console
from kwokctl.errors import KwokctlError, UnavailableError

_PASSED_THROUGH = frozenset({"kubectl", "etcdctl", "etcdutl", "kectl"})
_NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
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
            console.line(_json(error), whole=True)
            continue
        console.line(str(error).replace("\n", "\\n"), label="error:")
        if error.hint:
            console.line(error.hint, label="hint:")
        if error.detail:
            console.line(error.detail, label="output:", whole=True)


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
    elif error.errno in (errno.EMFILE, errno.ENFILE):
        hint = "raise the limit of open files: 'ulimit -n 4096' in this shell, then repeat"
    elif error.errno in _NOT_WRITABLE and error.filename and _is_kept_in(Path(error.filename)):
        hint = (
            "clusters are in KWOK_WORKDIR or ~/.kwok, programs in XDG_CACHE_HOME or ~/.cache: name "
            "folders that you may write to"
        )
    return KwokctlError(f"{what}: '{error.filename}'" if error.filename else what, hint=hint)


def _is_kept_in(path: Path) -> bool:
    """Return whether clusters or programs are kept at or below a path, or it is among them."""
    from kwokctl.host.paths import cache_dir, default_workdir

    with suppress(UnavailableError):
        folders = (default_workdir(), cache_dir())
        return any(path.is_relative_to(each) or each.is_relative_to(path) for each in folders)
    return False


def _json(error: KwokctlError) -> str:
    import json

    body = {"id": error.id, "message": str(error), "hint": error.hint, "output": error.detail}
    return json.dumps({"error": body})
