"""The plural names of kinds, for paths and rules of the API."""

from kwokctl.clusters.launching.custom_resources import shipped_definition
from kwokctl.config.document_kinds import KWOK

_IRREGULAR = {"Endpoints": "endpoints"}
"""Of all kinds that Kubernetes serves by itself only this one does not follow the rule."""


def plural(api_version: str, kind: str) -> str:
    """Return the plural of a kind: of a shipped definition, else as Kubernetes' clients guess it.

    The rule is that of UnsafeGuessKindToResource
    (https://pkg.go.dev/k8s.io/apimachinery/pkg/api/meta#UnsafeGuessKindToResource).
    """
    if api_version == KWOK:
        for definition in shipped_definition(kind):
            return str(definition["spec"]["names"]["plural"])
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    word = kind.lower()
    if word.endswith("s"):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def group(api_version: str) -> str:
    """Return the group of an apiVersion, empty for the core group."""
    return api_version.partition("/")[0] if "/" in api_version else ""
