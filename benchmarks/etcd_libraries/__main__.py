"""Our gRPC client beside grpcio and h2, with what the product asks of etcd most.

    pip install h2
    python -m benchmarks.etcd_libraries [--work create] [--rounds 5] [--instructions]

A real etcd answers at a unix socket. "h2", "grpc.aio" and "grpc futures" carry messages that our code
has encoded, so they are compared with `kwokctl.etcd.grpc` alone.
"""

import asyncio
import tempfile
from pathlib import Path

import uvloop

from benchmarks.etcd_libraries.clients import CLIENTS, OURS, client
from benchmarks.etcd_libraries.work import KEPT, LEASES_PER_TRANSACTION, fill
from benchmarks.libraries import Contest, Work
from tests.support.real_etcd import RealEtcd, program

_CONTEST = Contest(
    title="etcd client, unix socket",
    module="benchmarks.etcd_libraries.one",
    clients=CLIENTS,
    work=(
        Work("create", 10_000, "transaction"),
        Work("renew", 200 * LEASES_PER_TRANSACTION, "lease", executed=20 * LEASES_PER_TRANSACTION),
        Work("read", 10 * KEPT, "key", executed=KEPT),
    ),
)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        path = asyncio.run(program())
        etcd = RealEtcd(path, Path(folder), f"--quota-backend-bytes={8 << 30}")
        asyncio.run(etcd.start())
        try:
            uvloop.run(_fill(etcd.target))
            _CONTEST.run(etcd.target)
        finally:
            etcd.stop()


async def _fill(target: str) -> None:
    store = client(OURS, target)
    await fill(store)
    await store.close()


if __name__ == "__main__":
    main()
