"""What a watcher sees of a pod, as lines that are the same for each run: without its artefacts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.support.kubelet_recordings.artefacts import artefacts

View = tuple[str, ...]


def view_of(pod: Mapping[str, Any]) -> View:
    """Return what is seen of a pod."""
    status = pod.get("status") or {}
    return (
        " ".join(_pod_words(pod, status)),
        " ".join(_conditions(status)),
        *(
            f"{part} {each['name']}: {' '.join(_container(each))}"
            for part, key in (("init", "initContainerStatuses"), ("main", "containerStatuses"))
            for each in status.get(key) or ()
        ),
    )


def without_repeats(views: Iterable[View]) -> list[View]:
    """Return views without those that are like the one before."""
    found: list[View] = []
    for each in views:
        if not found or found[-1] != each:
            found.append(each)
    return found


def event_line(event: Mapping[str, Any]) -> str:
    """Return what an Event says, without its times and numbers."""
    about = event.get("involvedObject") or {}
    words = [event["type"], event["reason"], about.get("fieldPath", "")]
    return " ".join(word for word in words if word)


def _pod_words(pod: Mapping[str, Any], status: Mapping[str, Any]) -> Iterator[str]:
    yield str(status.get("phase"))
    for name in ("reason", "message"):
        if name in status:
            yield f"{name}={artefacts().without(status[name])!r}"
    yield from (name for name in ("hostIP", "podIP", "startTime") if name in status)
    yield from _generation(pod, status)
    if "deletionTimestamp" in pod["metadata"]:
        yield "deleted"


def _generation(pod: Mapping[str, Any], observed: Mapping[str, Any]) -> Iterator[str]:
    if "observedGeneration" in observed:
        is_current = observed["observedGeneration"] == pod["metadata"].get("generation")
        yield "observed" if is_current else "observed-before"


def _conditions(status: Mapping[str, Any]) -> Iterator[str]:
    for each in sorted(status.get("conditions") or (), key=lambda each: str(each["type"])):
        words = [
            f"{each['type']}={each['status']}",
            each.get("reason"),
            artefacts().without(each.get("message") or ""),
        ]
        seen = "" if "observedGeneration" in each else "?"
        yield ":".join(word for word in words if word) + seen


def _container(status: Mapping[str, Any]) -> Iterator[str]:
    yield _state(status.get("state") or {})
    if last := status.get("lastState"):
        yield f"last={_state(last)}"
    yield from (name for name in ("ready", "started") if status.get(name))
    if count := status.get("restartCount"):
        yield f"restarts={count}"
    if status.get("containerID"):
        yield "id"
    yield from (name for name in ("resources", "allocatedResources") if name in status)
    if status.get("volumeMounts"):
        yield "mounts"


def _state(state: Mapping[str, Any]) -> str:
    for name, of in state.items():
        words = [name, of.get("reason"), _code(of), _message(of)]
        return ":".join(word for word in words if word)
    return "none"


def _code(of: Mapping[str, Any]) -> str:
    return str(of["exitCode"]) if "exitCode" in of else ""


def _message(of: Mapping[str, Any]) -> str:
    if of.get("reason") in artefacts().answers:
        return ""
    return artefacts().without(of.get("message", ""))
