"""Whether the clock of the API server is this machine's: an engine may run in a machine of its own."""

from email.utils import parsedate_to_datetime

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report, not_made
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.model import KUBE_APISERVER

_TOLERATED = 5.0
"""Seconds. Leases of nodes are renewed by this machine's clock, and judged by the other."""


async def look(checked: CheckedCluster) -> Report:
    """Compare the clock with the date of an answer, which has whole seconds."""
    async with checked.api() as pool:
        answer = await pool.request("GET", "/version")
    date = answer.header(b"date")
    if date is None:
        return not_made("unknown: the API server's answer has no date")
    ahead = parsedate_to_datetime(date).timestamp() - checked.wall()
    if abs(ahead) <= _TOLERATED:
        return Report(state="that of this machine")
    direction = "ahead of" if ahead > 0 else "behind"
    what = f"the clock of the API server is {abs(ahead):,.0f} s {direction} this machine's"
    remedy = (
        "set the wrong clock; an engine in a virtual machine sets its clock when it is restarted"
    )
    return Report(state="another", findings=(DoctorFinding(what=what, remedy=remedy),))


CHECK = Check(
    name="clock", looks_at="the clock of the API server", look=look, needs=(KUBE_APISERVER,)
)
