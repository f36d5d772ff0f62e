"""Whether the programs of a new cluster are on this machine, and where the others come from."""

import asyncio
import shutil

from kwokctl.artifacts.locations import Local, Order, local_artifact, place
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import ArtifactSource, store_of
from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.clusters.programs.needed import TOOLS, has_file, prefixes, source_of, wanted_program
from kwokctl.components.cluster_plan import selected
from kwokctl.errors import KwokctlError


async def look(machine: Machine) -> Report:
    """Look for each program that a new cluster needs."""
    return await asyncio.to_thread(_look, machine)


def _look(machine: Machine) -> Report:
    options = machine.options
    names = [name for name in (*selected(options), *TOOLS) if has_file(options, name)]
    places = [place(wanted_program(options, name), here(), prefixes(options)) for name in names]
    store = store_of(machine.home.cache, here())
    orders = [each for each in places if isinstance(each, Order)]
    missing = [each.name for each in orders if not store.seen(each.name, each.key)]
    findings = [f for each in places if isinstance(each, Local) for f in _of_given(each)]
    return Report(
        state=f"{len(names) - len(missing)} of {len(names)} for Kubernetes {options.kube_version} "
        "are on this machine",
        notes=(_source(missing, options.programs.source),) if missing else (),
        findings=(*findings, *_of_missing(missing, source_of(options.programs.source))),
    )


def _of_given(given: Local) -> list[DoctorFinding]:
    try:
        local_artifact(given)
    except KwokctlError as e:
        return [DoctorFinding(what=str(e), remedy=e.hint or "name another program")]
    return []


def _source(missing: list[str], source: str) -> str:
    how = {"download": "downloaded", "build": "built", "offline": "missing"}
    return f"{how.get(source, 'downloaded or built')} when they are needed: {', '.join(missing)}"


def _of_missing(missing: list[str], source: ArtifactSource) -> list[DoctorFinding]:
    names = ", ".join(missing)
    if missing and source is ArtifactSource.OFFLINE:
        what = f"not in the store, and 'offline' does not download: {names}"
        return [DoctorFinding(what=what, remedy="copy them here: kwokctl artifacts add FOLDER")]
    if missing and source is ArtifactSource.BUILD and not shutil.which("go"):
        what = f"to be built, and there is no 'go' on PATH: {names}"
        return [DoctorFinding(what=what, remedy="install Go, or choose another --artifact-source")]
    return []


CHECK = Check(name="programs", looks_at="the programs that a new cluster needs", look=look)
