"""What our etcd client costs beside grpcio: CPU of this process for each compare-and-put.

A real etcd answers over a unix socket and over TLS. Both clients do the same work in turns, so
that a busy machine is unfair to both alike; the least of the turns counts.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.report import Row, report
from kwokctl.etcd import shim
from kwokctl.etcd.kv.kv import Compare, Kv, Put, Txn
from tests.support.certificates import certificates
from tests.support.real_etcd import RealEtcd, program

_TURNS = 3
_TRANSACTIONS, _IN_FLIGHT = 20_000, 64
_VALUE = b"x" * 2_000
_PAGE, _PAGES = 500, 8
_TELL = """
import time
print(time.process_time(), int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6)
"""
_KEY = "/bench/pods/default/pod-{:06d}"


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        files = _certificates(Path(folder))
        etcd = RealEtcd(asyncio.run(program()), Path(folder), *_flags(files), is_secure=True)
        asyncio.run(etcd.start())
        try:
            rows = _measure(etcd, files)
        finally:
            etcd.stop()
    report("etcd client, 2 KB compare-and-put, 64 in flight", rows)


def _secure(etcd: RealEtcd, files: dict[str, Path]) -> Kv:
    return Kv(etcd.port, ca=files.get("ca"), cert=files.get("cert"), key=files.get("key"))


def _measure(etcd: RealEtcd, files: dict[str, Path]) -> list[Row]:
    turns: dict[str, list[float]] = {"ours": [], "tls": [], "grpcio": [], "etcd": [], "page": []}
    began = etcd.cpu_seconds
    for _ in range(_TURNS):
        turns["ours"].append(_cpu(lambda: uvloop.run(_ours(Kv(etcd.target)))) / _TRANSACTIONS)
        turns["grpcio"].append(_cpu(lambda: _grpcio(etcd.target)) / _TRANSACTIONS)
        turns["tls"].append(_cpu(lambda: uvloop.run(_ours(_secure(etcd, files)))) / _TRANSACTIONS)
    used = (etcd.cpu_seconds - began) / (3 * _TURNS * _TRANSACTIONS)
    uvloop.run(_fill(Kv(etcd.target)))
    for _ in range(_TURNS):
        turns["page"].append(_cpu(lambda: uvloop.run(_read(Kv(etcd.target)))) / (_PAGE * _PAGES))
    least = {name: min(values) * 1e6 for name, values in turns.items() if values}
    return [
        Row("ours, unix socket", least["ours"], "us CPU", goal=25),
        Row("ours, TLS", least["tls"], "us CPU"),
        Row("grpcio, unix socket", least["grpcio"], "us CPU"),
        Row("grpcio / ours", least["grpcio"] / least["ours"], "times", goal=3, at_least=True),
        Row("etcd's own share, on average", used * 1e6, "us CPU"),
        Row("a key read in pages of 500", least["page"], "us CPU"),
        *_imports(),
    ]


def _cpu(work: Callable[[], None]) -> float:
    """Return the CPU seconds of this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


async def _ours(kv: Kv) -> None:
    async def writer(number: int) -> None:
        key = _KEY.format(number).encode()
        found = await kv.get(key)
        revision = found.mod_revision if found else 0
        for _ in range(_TRANSACTIONS // _IN_FLIGHT):
            answer = await kv.txn(Txn((Compare(key, revision),), (Put(key, _VALUE),)))
            assert answer.succeeded
            revision = answer.revision

    async with kv, asyncio.TaskGroup() as tasks:
        for number in range(_IN_FLIGHT):
            tasks.create_task(writer(number))


def _grpcio(target: str) -> None:
    """Do the same with the stub of the etcd3 package; its callbacks come in a thread of grpcio."""
    import grpc  # only for comparison

    rpc = shim.load().etcdrpc
    with grpc.insecure_channel(target) as channel:
        stub = rpc.KVStub(channel)
        under_way: list[tuple[bytes, Any]] = []
        for number in range(_IN_FLIGHT):
            key = _KEY.format(number).encode()
            found = stub.Range(rpc.RangeRequest(key=key)).kvs
            revision = found[0].mod_revision if found else 0
            under_way.append((key, stub.Txn.future(_request(rpc, key, revision))))
        for turn in range(_TRANSACTIONS - _IN_FLIGHT):
            key, call = under_way[turn % _IN_FLIGHT]
            answer = call.result()
            assert answer.succeeded
            call = stub.Txn.future(_request(rpc, key, answer.header.revision))
            under_way[turn % _IN_FLIGHT] = key, call
        for _, call in under_way:
            assert call.result().succeeded


def _request(rpc: Any, key: bytes, revision: int) -> Any:
    compare = rpc.Compare(
        result=rpc.Compare.EQUAL, target=rpc.Compare.MOD, key=key, mod_revision=revision
    )
    put = rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=_VALUE))
    return rpc.TxnRequest(compare=[compare], success=[put])


async def _fill(kv: Kv) -> None:
    async with kv:
        for number in range(_PAGE * _PAGES):
            await kv.txn(Txn((), (Put(b"/pages/%06d" % number, _VALUE),)))


async def _read(kv: Kv) -> None:
    async with kv:
        start, more = b"/pages/", True
        while more:
            page = await kv.page(start, b"/pages0", limit=_PAGE)
            start, more = page.items[-1].key + b"\0", page.more


def _imports() -> list[Row]:
    """Measure what each client costs a process before it has done anything with it."""
    rows = []
    base = _after("import asyncio, ssl")
    clients = {
        "ours": "import asyncio, ssl, kwokctl.etcd.kv.kv",
        "grpcio and etcd3": "import asyncio, ssl; from kwokctl.etcd import shim; shim.load()",
    }
    for name, code in clients.items():
        seconds, megabytes = _after(code)
        rows.append(Row(f"importing {name}", (seconds - base[0]) * 1e3, "ms CPU"))
        rows.append(Row(f"memory after importing {name}", megabytes - base[1], "MB"))
    return rows


def _after(code: str) -> tuple[float, float]:
    """Return the CPU seconds and the megabytes of a process that has run this code."""
    measured = [
        subprocess.run(
            [sys.executable, "-c", f"{code}\n{_TELL}"], check=True, capture_output=True, text=True
        ).stdout.split()
        for _ in range(_TURNS)
    ]
    return min(float(cpu) for cpu, _ in measured), min(float(memory) for _, memory in measured)


def _certificates(folder: Path) -> dict[str, Path]:
    """Write what TLS needs; return what our client is given."""
    known = certificates()
    contents = {
        "ca.crt": known.ca,
        "server.crt": known.server.cert,
        "server.key": known.server.key,
        "client.crt": known.client.cert,
        "client.key": known.client.key,
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {
        "ca": folder / "ca.crt",
        "cert": folder / "client.crt",
        "key": folder / "client.key",
    }


def _flags(files: dict[str, Path]) -> list[str]:
    folder = files["ca"].parent
    return [
        f"--cert-file={folder / 'server.crt'}",
        f"--key-file={folder / 'server.key'}",
        f"--trusted-ca-file={files['ca']}",
        "--client-cert-auth",
        f"--quota-backend-bytes={8 << 30}",
    ]


if __name__ == "__main__":
    main()
