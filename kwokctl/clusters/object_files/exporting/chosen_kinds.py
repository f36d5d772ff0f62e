"""Chooses and orders the kinds of a snapshot of objects. Secrets are left out by default."""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kwokctl.errors import ApiError, NotFoundError, UsageError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.resource import SECRETS
from kwokctl.kube.served_kinds import ServedKind, ServedKinds

DEFAULT = (
    "namespace", "node", "serviceaccount", "configmap", "secret", "limitrange",
    "runtimeclass.node.k8s.io", "priorityclass.scheduling.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io", "roles.rbac.authorization.k8s.io",
    "daemonset.apps", "deployment.apps", "replicaset.apps", "statefulset.apps",
    "cronjob.batch", "job.batch", "persistentvolumeclaim", "persistentvolume",
    "pod", "service", "endpoints",
)  # fmt: skip
"""The kinds of the original, in its order; its restore stops at the first document of another."""
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_KIND = re.compile(r"[A-Za-z][-A-Za-z0-9.]*", re.ASCII)
_SECRET = "secret"  # noqa: S105 - a kind


class ChosenKinds(msgspec.Struct, frozen=True, kw_only=True):
    """The kinds that an export reads."""

    kinds: Sequence[ServedKind]
    unknown: Sequence[str]
    """Words that name no kind of this cluster that can be listed."""
    lacks_secrets: bool
    """Whether Secrets are left out because they were not chosen."""


async def chosen_kinds(
    client: Client, served: ServedKinds, words: Sequence[str], *, with_secrets: bool
) -> ChosenKinds:
    """Choose by words such as those of `DEFAULT`; without any, those and all custom resources.

    Custom resources come last, after their definitions.
    """
    is_default = not words
    wanted = [word for word in words or DEFAULT if with_secrets or words or word != _SECRET]
    if words and with_secrets:
        wanted.append(_SECRET)
    if is_default:
        wanted += [DEFINITIONS, *await _custom_kinds(client, served)]
    found = {word: _listable(served, word) for word in dict.fromkeys(wanted)}
    kinds = tuple(dict.fromkeys(kind for kind in found.values() if kind is not None))
    if not kinds:
        raise NotFoundError(
            f"this cluster serves none of the kinds {', '.join(repr(w) for w in words)}",
            hint="their names are those of: kubectl api-resources --output name",
        )
    return ChosenKinds(
        kinds=kinds,
        unknown=tuple(word for word, kind in found.items() if kind is None),
        lacks_secrets=not any(kind.resource == SECRETS for kind in kinds),
    )


def named(words: Iterable[str] | None) -> tuple[str, ...]:
    """Return the kinds in words that may each name several, separated by commas.

    UsageError for a word that no kind can have.
    """
    parts = (part.strip() for word in words or () for part in word.split(","))
    kinds = tuple(part for part in parts if part)
    for kind in kinds:
        if not _KIND.fullmatch(kind):
            raise UsageError(
                f"'--filter' is '{kind}', which cannot be a kind",
                hint="for example: pod, deployment.apps; kubectl api-resources names all",
            )
    return kinds


def _listable(served: ServedKinds, word: str) -> ServedKind | None:
    kind = served.find(word)
    return kind if kind is not None and "list" in kind.verbs else None


_DEFINITIONS_PAGE = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def definitions_of(client: Client, served: ServedKinds) -> list[dict[str, Json]]:
    """Return all CustomResourceDefinitions; none if the caller may not see them."""
    if served.find(DEFINITIONS) is None:
        return []
    try:
        answer = await client.call("GET", _DEFINITIONS_PAGE)
    except ApiError as e:
        if e.status == 403:
            return []
        raise
    items: list[dict[str, Json]] = msgspec.json.decode(answer).get("items") or []
    return items


async def _custom_kinds(client: Client, served: ServedKinds) -> Iterator[str]:
    """Return the names of definitions, which are those of their kinds: `widgets.example.com`."""
    definitions = await definitions_of(client, served)
    return iter(sorted(str(each["metadata"]["name"]) for each in definitions))
