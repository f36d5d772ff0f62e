"""Measures one client with one kind of work, alone in its process, and prints JSON."""

import json
import sys

import uvloop

from benchmarks.etcd_libraries.clients import client
from benchmarks.etcd_libraries.work import WORK
from benchmarks.libraries import measured


async def _measured(name: str, work: str, count: str, run: str, target: str) -> dict[str, float]:
    return await measured(lambda: client(name, target), WORK[work], int(count), run)


if __name__ == "__main__":
    print(json.dumps(uvloop.run(_measured(*sys.argv[1:]))))
