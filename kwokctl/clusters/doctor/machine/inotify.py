"""Whether programs can still have the kernel watch files, as kubelets and API servers do."""

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report, not_made
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.host import inotify

_NEEDED = 16
"""Instances that a cluster takes; a node of kind takes thirty."""
_LEAST_WATCHES = 8_192


async def look(machine: Machine) -> Report:
    """Compare what this user's processes have with the limits."""
    now = inotify.limits(machine.root)
    if not now.instances:
        return not_made("unknown: this kernel does not report its limits")
    more, most = inotify.ENOUGH
    is_low = now.instances < more or now.watches < most
    note = f"kind with several nodes needs max_user_instances={more}, max_user_watches={most}"
    return Report(
        state=f"{now.used} of {now.instances} instances in use, {now.watches:,} watches",
        notes=(note,) if is_low else (),
        findings=(
            *_few("instances", now.left, _NEEDED),
            *_few("watches", now.watches, _LEAST_WATCHES),
        ),
    )


def _few(what: str, left: int, needed: int) -> tuple[DoctorFinding, ...]:
    if left >= needed:
        return ()
    text = f"only {max(left, 0):,} more inotify {what} are available"
    return (DoctorFinding(what=text, remedy=inotify.remedy(what)),)


CHECK = Check(name="inotify", looks_at="the limits of inotify", look=look)
