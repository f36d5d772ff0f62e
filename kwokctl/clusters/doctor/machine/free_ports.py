"""Whether there are ports for a new cluster, and those that were chosen for it are free."""

from collections.abc import Iterator

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.clusters.state.saved import used_ports
from kwokctl.config.options import spellings, value_of
from kwokctl.errors import KwokctlError
from kwokctl.host.ports import HIGHEST, LOWEST, check_local, check_unused
from kwokctl.model import ClusterName

_NEEDED = 20
_NO_CLUSTER = ClusterName("")
_OUTGOING = "proc/sys/net/ipv4/ip_local_port_range"


async def look(machine: Machine) -> Report:
    """Count the ports that sockets have, and try those that a new cluster would take."""
    given = used_ports(machine.home.workdir, but=_NO_CLUSTER)
    taken = {port for port in _bound(machine) if LOWEST <= port <= HIGHEST}.union(given)
    left = HIGHEST - LOWEST + 1 - len(taken)
    return Report(
        state=f"{left:,} of those between {LOWEST} and {HIGHEST} are free",
        notes=tuple(_notes(machine)),
        findings=(*_few(left), *_taken(machine, given), *_address(machine)),
    )


def _few(left: int) -> Iterator[DoctorFinding]:
    if left < _NEEDED:
        yield DoctorFinding(
            what=f"only {left} ports are free", remedy="end programs, or delete clusters"
        )


def _taken(machine: Machine, given: frozenset[int]) -> Iterator[DoctorFinding]:
    """Try the ports that options name, but for those that a cluster has already."""
    options = machine.options
    for spelling in spellings(options):
        port = value_of(options, spelling) if spelling.is_port else 0
        if isinstance(port, int) and port and port not in given:
            try:
                check_unused(spelling.flag or spelling.key, options.bind_address, port)
            except KwokctlError as e:
                yield DoctorFinding(what=str(e), remedy=e.hint or "choose another port")


def _address(machine: Machine) -> Iterator[DoctorFinding]:
    try:
        check_local(machine.options.bind_address)
    except KwokctlError as e:
        yield DoctorFinding(what=str(e), remedy=e.hint or "choose another --bind-address")


def _notes(machine: Machine) -> Iterator[str]:
    words = machine.text(_OUTGOING).split()
    if words and words[0].isdigit() and int(words[0]) <= HIGHEST:
        yield (
            f"the kernel takes ports from {words[0]} on for outgoing connections: one may take the "
            "port of a stopped cluster"
        )


def _bound(machine: Machine) -> Iterator[int]:
    """Yield the local port of each TCP socket (proc(5), /proc/net/tcp)."""
    for table in ("proc/net/tcp", "proc/net/tcp6"):
        for line in machine.text(table).splitlines()[1:]:
            yield int(line.split()[1].rpartition(":")[2], 16)


CHECK = Check(name="ports", looks_at="free TCP ports, and those that options choose", look=look)
