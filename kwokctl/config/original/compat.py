"""The defaults of the original kwokctl in place of those here that differ: `--compat kwokctl`.

Versions are not among them: each release of either program has its own. Nor are the components: what
the original's `kwok-controller` does, `kwok-controller` and `kwok-kubelet` do here.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kwokctl.config.checks import is_file, is_folder
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.config.declaring import OptionValue, Spelling
from kwokctl.config.document_kinds import OF_CLUSTERS
from kwokctl.errors import KwokctlError
from kwokctl.host.paths import default_workdir

VARIABLE = "KWOK_COMPAT"
_FIELD, _FLAG = "compat", "--compat"
_CONFIG = ("-c", "--config")
_AUTHORIZATION, _ADMISSION = "kube_authorization", "kube_admission"
KWOKCTL = "kwokctl"
_OURS = frozenset({"components", "kind_version", "kube_version", "metrics_server_version"})
"""Options that keep their default."""


def defaults(
    options: Iterable[Spelling], values: Mapping[str, OptionValue], flags: Collection[str] = ()
) -> Mapping[str, OptionValue]:
    """Return the defaults that take the place of those of `options`, given the chosen values.

    `flags` are those that were given as flags: the original has settled its defaults before it reads them,
    so that only a document or a variable that turns authorization off turns admission off, too.
    """
    if values.get(_FIELD) != KWOKCTL:
        return {}
    found = {
        each.field: each.original
        for each in options
        if each.original is not None and each.field not in _OURS
    }
    if values.get(_AUTHORIZATION) is False and _AUTHORIZATION not in flags:
        found[_ADMISSION] = False
    return found


def restarts(policy: str, program: str, *, is_chosen: bool, by_engine: bool) -> str:
    """Return which components are restarted: the original leaves those in containers to the engine."""
    is_theirs = program == KWOKCTL and by_engine and not is_chosen
    return "on-failure" if is_theirs else policy


def is_asked_for(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Return whether a command is to behave as the original's, before its words are understood."""
    return (_flagged(words) or environ.get(VARIABLE, "")) == KWOKCTL


def is_written(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Return whether documents alone say so: those that the words name, and the default file.

    What cannot be read says nothing, nor do standard input and pipes, which can be read once only.
    """
    if _flagged(words) or environ.get(VARIABLE):
        return False
    named = [path for word in _values(words, *_CONFIG) for path in word.split(",")]
    paths = [path for path in named if is_file(path) or is_folder(path)]
    try:
        return is_in(load_documents(paths, default=default_workdir() / "kwok.yaml"))
    except KwokctlError:
        return False


def is_in(documents: Iterable[Document]) -> bool:
    """Return whether the last document that has the option says so."""
    bodies = [each.body.get("options") for each in documents if each.kind == OF_CLUSTERS]
    said = [body[_FIELD] for body in bodies if isinstance(body, Mapping) and body.get(_FIELD)]
    return bool(said) and said[-1] == KWOKCTL


def _flagged(words: Sequence[str]) -> str:
    return next(iter([*_values(words, _FLAG)][::-1]), "")


def _values(words: Sequence[str], *flags: str) -> Iterator[str]:
    """Yield the values of a flag, in the word after it or after a sign of equality."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word in flags:
            yield following
        elif word.partition("=")[0] in flags:
            yield word.partition("=")[2]
