"""The phase of a pod, as kubelet 1.36 computes it from its containers (`getPhase`)."""

from collections.abc import Sequence

from kwokctl.controller.lifecycle.containers.container import PodContainer


def phase_of(containers: Sequence[PodContainer], *, has_ended: bool) -> str:
    """Return the phase; `has_ended` says that no container is started any more."""
    first = [each for each in containers if each.is_init and not each.is_sidecar]
    sidecars = [each for each in containers if each.is_sidecar]
    regular = [each for each in containers if not each.is_init]
    if any(each.is_over and not each.is_done for each in first):
        return "Failed"
    if _is_pending(first, sidecars, regular):
        return "Pending"
    if any(each.running for each in (*sidecars, *regular)):
        return "Running"
    return _phase_of_ended(regular, has_ended=has_ended)


def _is_pending(
    first: Sequence[PodContainer], sidecars: Sequence[PodContainer], regular: Sequence[PodContainer]
) -> bool:
    has_begun = any(each.running or each.last_end for each in regular)
    if any(each.running or each.last_end is None for each in first):
        return True
    if not has_begun and any(not each.status.get("started") for each in sidecars):
        return True
    return any(not each.running and each.last_end is None for each in regular)


def _phase_of_ended(regular: Sequence[PodContainer], *, has_ended: bool) -> str:
    if not has_ended and any(not each.is_over for each in regular):
        return "Running"
    succeeded = all(each.ended and each.ended["exitCode"] == 0 for each in regular)
    return "Succeeded" if succeeded else "Failed"
