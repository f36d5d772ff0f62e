"""Measures one client with one kind of work, alone in its process, and prints JSON."""

import json
import sys
from pathlib import Path

import uvloop

from benchmarks.http_libraries.clients import client
from benchmarks.http_libraries.work import WORK
from benchmarks.libraries import measured
from kwokctl.kube.kubeconfig.access import Access


async def _measured(name: str, work: str, count: str, run: str, access: Access) -> dict[str, float]:
    return await measured(lambda: client(name, access), WORK[work], int(count), run)


def main() -> None:
    name, work, count, run, server, ca = sys.argv[1:]
    access = Access(server=server, ca=Path(ca).read_bytes())
    print(json.dumps(uvloop.run(_measured(name, work, count, run, access))))


if __name__ == "__main__":
    main()
