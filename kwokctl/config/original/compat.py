"""The defaults of the original kwokctl in place of those here that differ: `--compat kwokctl`.

Versions are not among them: each release of either program has its own. Nor are the components: what
the original's `kwok-controller` does, `kwok-controller` and `kwok-kubelet` do here.
"""

from collections.abc import Iterable, Mapping, Sequence

from kwokctl.config.declaring import OptionValue, Spelling

VARIABLE = "KWOK_COMPAT"
_FIELD, _FLAG = "compat", "--compat"
KWOKCTL = "kwokctl"
_OURS = frozenset({"components", "kind_version", "kube_version", "metrics_server_version"})
"""Options that keep their default."""


def defaults(
    options: Iterable[Spelling], values: Mapping[str, OptionValue]
) -> Mapping[str, OptionValue]:
    """Return the defaults that take the place of those of `options`, given the chosen values."""
    if values.get(_FIELD) != KWOKCTL:
        return {}
    return {
        each.field: each.original
        for each in options
        if each.original is not None and each.field not in _OURS
    }


def is_asked_for(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Return whether a command is to behave as the original's, before its words are understood."""
    pairs = zip(words, [*words[1:], ""], strict=True)
    given = [
        following if word == _FLAG else word.removeprefix(f"{_FLAG}=")
        for word, following in pairs
        if word == _FLAG or word.startswith(f"{_FLAG}=")
    ]
    return (given[-1] if given else environ.get(VARIABLE, "")) == KWOKCTL
