"""The state of an object, in a few words."""

from collections.abc import Iterator, Mapping

from kwokctl.json_value import Json

GONE = "gone"
_NEW = "new"


def state_of(value: Json) -> str:
    """Return the phase of an object, its conditions that are true, and what its containers do."""
    status = value.get("status") or {}
    metadata = value.get("metadata") or {}
    words = [
        *([status["phase"]] if status.get("phase") else []),
        *_conditions(status),
        *_containers(status.get("initContainerStatuses") or [], "init "),
        *_containers(status.get("containerStatuses") or [], ""),
        *(["being deleted"] if metadata.get("deletionTimestamp") else []),
    ]
    return ", ".join(dict.fromkeys(map(str, words))) or _NEW


def _conditions(status: Mapping[str, Json]) -> Iterator[str]:
    for condition in status.get("conditions") or []:
        if condition.get("status") == "True" and condition.get("type") != "ContainersReady":
            yield condition["type"]


def _containers(statuses: list[Json], prefix: str) -> Iterator[str]:
    """Yield what containers do; running containers of a Running pod are not mentioned."""
    for each in statuses:
        for state, more in (each.get("state") or {}).items():
            if state != "running" or prefix:
                yield prefix + str((more or {}).get("reason") or state)
