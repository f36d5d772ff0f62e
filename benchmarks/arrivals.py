"""What `kwokctl load run` costs with very many arrivals, each a small object.

    python -m benchmarks.arrivals [--count 100000] [--rate 800] [--kubeconfig FILE]

The API server is a program that takes every object at once, in a process of its own; `--kubeconfig` takes another.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import yaml

from benchmarks.report import Row, report
from tests.support.certificates import certificates
from tests.support.fake_api_server import FakeApiServer, Reply, Request

_LOAD = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: many}
spec:
  arrivals: {poisson: RATE/s}
  count: COUNT
  params: {size: {integer: {from: 1, to: 9}}}
  create:
  - template: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "{{ .name }}"}
      data: {size: "{{ .params.size }}"}
"""
_NEEDED_MB = 300.0
"""The most memory: no arrival is kept once it is answered."""


class _Server:
    """Takes every object."""

    def __init__(self) -> None:
        self._taken = 0
        self.fake = FakeApiServer(self.handle)

    async def handle(self, request: Request, reply: Reply) -> None:
        self.fake.requests.clear()  # they are kept for tests
        if request.path.endswith("/configmaps") and request.method == "POST":
            body = json.loads(request.body)
            self._taken += 1
            body["metadata"] |= {"uid": f"uid-{self._taken:>30}", "namespace": "default"}
            await reply.json(body, status=201)
        elif request.path.endswith("/selfsubjectaccessreviews"):
            await reply.json({"status": {"allowed": True}}, status=201)
        elif request.path == "/api/v1/namespaces/default":
            await reply.json({"metadata": {"name": "default"}})
        elif request.path == "/api/v1":
            kind = {"name": "configmaps", "kind": "ConfigMap", "namespaced": True}
            await reply.json({"resources": [{**kind, "verbs": ["create"]}]})
        else:
            await reply.refuse(404, "NotFound", f"no {request.path}")


def _serve(pipe: Connection) -> None:
    async def main() -> None:
        known = certificates()
        serve = _Server().fake.serve
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=known.server_context())
        pipe.send((server.sockets[0].getsockname()[1], known.ca))
        await server.serve_forever()

    asyncio.run(main())


@contextmanager
def _serving(folder: Path) -> Iterator[Path]:
    """Yield a kubeconfig for the server."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    server.start()
    try:
        port, ca = here.recv()
        (folder / "ca.crt").write_bytes(ca)
        cluster = {"server": f"https://localhost:{port}", "certificate-authority": "ca.crt"}
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": cluster}],
            "users": [{"name": "it", "user": {"token": "x"}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        }))  # fmt: skip
        yield path
    finally:
        server.terminate()
        server.join()


def _rows(folder: Path, kubeconfig: Path, count: int, rate: int) -> list[Row]:
    load = folder / "load.yaml"
    load.write_text(_LOAD.replace("RATE", str(rate)).replace("COUNT", str(count)))
    words = ("load", "run", "-f", str(load), "--kubeconfig", str(kubeconfig), "-o", "json")
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "kwokctl", *words], stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status):
        raise SystemExit("the load has failed")
    (verdict,) = json.loads(said)["result"]["loads"]
    spent = usage.ru_utime + usage.ru_stime
    print(f"verdict: {verdict['problem'] or 'as asked'}; refused: {verdict['refused'] or 'none'}")
    return [
        Row("accepted", verdict["accepted"], "arrivals", count, at_least=True),
        Row("late", verdict["late"], "arrivals"),
        Row("latest", verdict["latest"], "s"),
        Row("rate", verdict["reachedRate"] or 0.0, "/s"),
        Row("CPU of an arrival", spent / count * 1e3, "ms"),
        Row("share of a core", spent / took * 100, "%"),
        Row("memory", usage.ru_maxrss * 1024 / 1e6, "MB", _NEEDED_MB),
    ]


def main() -> None:
    """Measure it once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--rate", type=int, default=800)
    parser.add_argument("--kubeconfig", type=Path)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if words.kubeconfig:
            rows = _rows(folder, words.kubeconfig, words.count, words.rate)
        else:
            with _serving(folder) as kubeconfig:
                rows = _rows(folder, kubeconfig, words.count, words.rate)
    report(f"load: {words.count:,} arrivals, {words.rate} a second", rows)


if __name__ == "__main__":
    main()
