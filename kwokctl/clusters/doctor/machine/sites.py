"""Whether the sites answer from which programs and images come; they are asked only on request."""

import asyncio
from collections.abc import Iterator
from urllib.parse import urlsplit

from kwokctl.artifacts.downloads.site_check import trouble_with
from kwokctl.artifacts.published_images import registry_of
from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report, not_made
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.clusters.programs.images import image_choices
from kwokctl.clusters.programs.needed import TOOLS, addresses
from kwokctl.components.cluster_plan import selected

_LOCAL = frozenset({"localhost", "127.0.0.1"})
_REMEDY = (
    "name a proxy with HTTPS_PROXY, name mirrors (KWOK_KUBE_BINARY_PREFIX, "
    "KWOK_KUBE_IMAGE_PREFIX), or prepare a folder elsewhere: kwokctl artifacts pull --to FOLDER"
)


async def look(machine: Machine) -> Report:
    """Ask each site once."""
    sites = sorted({*_sites(machine)})
    if not machine.asks_sites:
        return not_made(f"not checked: {', '.join(map(_host, sites))}; '--online' checks them")
    answers = await asyncio.gather(*(asyncio.to_thread(trouble_with, site) for site in sites))
    troubles = [trouble for trouble in answers if trouble]
    return Report(
        state=f"{len(sites) - len(troubles)} of {len(sites)} answer",
        findings=tuple(DoctorFinding(what=each, remedy=_REMEDY) for each in troubles),
    )


def _sites(machine: Machine) -> Iterator[str]:
    """Yield the address of each site, without what is below it."""
    names = selected(machine.options)
    for url in addresses(machine.options, (*names, *TOOLS)):
        parts = urlsplit(url)
        if parts.scheme in {"http", "https"}:
            yield f"{parts.scheme}://{parts.netloc}/"
    for choice in image_choices(machine.options, names):
        registry = registry_of(choice.image)
        scheme = "http" if registry.partition(":")[0] in _LOCAL else "https"
        yield f"{scheme}://{registry}/v2/"


def _host(site: str) -> str:
    return urlsplit(site).netloc


CHECK = Check(name="sites", looks_at="the sites of programs and images", look=look)
