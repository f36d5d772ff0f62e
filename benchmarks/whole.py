"""How `scale` does with a library in place of one of our clients: measured as a whole, in clusters.

    python -m benchmarks.whole [etcd] [http] [--libraries grpc.aio] [--pods 20000] [--rounds 3]

Each round makes a new cluster for ours and for each library, in turns. The libraries beyond those that
kwokctl needs itself are installed by hand: pip install aiohttp h2 httpx pycurl.
"""

import argparse
import asyncio
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.cluster import fresh_cluster
from benchmarks.meter import COMMAND, WATCHES, Measured, Meter
from benchmarks.observer import observing
from benchmarks.processes import CONTROLLER
from benchmarks.report import Row, report
from benchmarks.swap import swapped

_OURS = "ours"


@dataclass(frozen=True, slots=True)
class _Place:
    """One of our clients that a library can replace."""

    module: str
    changer: str
    libraries: Sequence[str]
    data_path: str
    pods: int


_PLACES = {
    "etcd": _Place(
        module="kwokctl.etcd.grpc.channel",
        changer="benchmarks.etcd_libraries.swapping",
        libraries=("grpc.aio", "h2"),
        data_path="etcd",
        pods=20_000,
    ),
    "http": _Place(
        module="kwokctl.kube.transport.pool",
        changer="benchmarks.http_libraries.swapping",
        libraries=("aiohttp", "pycurl"),
        data_path="api",
        pods=3_000,
    ),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("places", nargs="*", help="etcd, http [default: both]")
    parser.add_argument("--libraries", nargs="+")
    parser.add_argument("--pods", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for name in options.places or _PLACES:
        place = _PLACES[name]
        libraries = options.libraries or place.libraries
        _compare(place, libraries, options.pods or place.pods, options.rounds)


def _compare(place: _Place, libraries: Sequence[str], pods: int, rounds: int) -> None:
    clients = (_OURS, *libraries)
    measured: dict[str, list[Measured]] = {client: [] for client in clients}
    for _ in range(rounds):
        for client in clients:
            measured[client].append(_round(place, client, pods))
    title = f"scale pod --replicas {pods:,}, data path {place.data_path}, median of {rounds}"
    for client in clients:
        report(f"{title}: {client}", _rows(measured[client], measured[_OURS], pods))


def _round(place: _Place, client: str, pods: int) -> Measured:
    changer = None if client == _OURS else place.changer
    with (
        swapped(place.module, changer, client),
        fresh_cluster(f"--data-path={place.data_path}") as cluster,
    ):

        async def scale() -> Measured:
            async with cluster.pool() as pool, observing(pool) as observer:
                meter = Meter(cluster, pool, observer)
                await meter.work(
                    lambda: cluster.kwokctl("scale", "node", "--replicas=1"),
                    lambda: len(observer.nodes.ready) == 1,
                )
                words = (f"--replicas={pods}", "--param", '.nodeName="node-000000"')
                return await meter.work(
                    lambda: cluster.kwokctl("scale", "pod", *words),
                    lambda: len(observer.pods.ready) == pods,
                )

        return asyncio.run(scale())


def _rows(rounds: Sequence[Measured], ours: Sequence[Measured], pods: int) -> list[Row]:
    rows = [
        Row("time", _time(rounds), "s"),
        Row("time, least", min(each.seconds for each in rounds), "s"),
        Row("time, most", max(each.seconds for each in rounds), "s"),
        Row("time beside ours", _time(rounds) / _time(ours), "times"),
        Row("CPU beside ours", _sum(rounds, pods) / _sum(ours, pods), "times"),
        Row("CPU for each: all programs", _sum(rounds, pods), "ms"),
    ]
    each = _each(rounds, pods)
    clients = (COMMAND, CONTROLLER)
    rows += [Row(f"CPU for each: {name}", each[name], "ms") for name in clients]
    rows += [
        Row(f"CPU for each: {n}", spent, "ms") for n, spent in each.items() if n not in clients
    ]
    return rows


def _time(rounds: Sequence[Measured]) -> float:
    return statistics.median(each.seconds for each in rounds)


def _each(rounds: Sequence[Measured], pods: int) -> Mapping[str, float]:
    """Return the milliseconds of each program for a pod."""
    each = [measured.each(pods) for measured in rounds]
    return {name: statistics.median(one.get(name, 0.0) for one in each) for name in each[0]}


def _sum(rounds: Sequence[Measured], pods: int) -> float:
    return sum(spent for name, spent in _each(rounds, pods).items() if name != WATCHES)


if __name__ == "__main__":
    main()
