"""A CPU profile of the process, in the form of pprof."""

import gzip
import signal
from pathlib import Path

import pytest

from kwokctl.etcd.protobuf import fields
from kwokctl.kubelet.general_routes import general_routes
from kwokctl.kubelet.profiling import PERIOD, StackSampler, profile, profiling_routes
from tests.support.eventually import eventually
from tests.support.kubelet_rig import serving_kubelet


def busy(sampler: StackSampler) -> None:
    while not sampler.stacks:
        sum(range(1000))


def texts(body: bytes) -> set[str]:
    """Return the texts of a profile."""
    data = gzip.decompress(body)
    found = fields(data, 0, len(data))
    return {data[at:end].decode() for number, at, end in found if number >> 3 == 6}


def test_what_takes_cpu_time_is_named_with_its_callers() -> None:
    sampler = StackSampler()

    with sampler.running():
        busy(sampler)

    [stack] = list(sampler.stacks)[:1]
    names = [code.co_name for code, _ in stack]
    assert names.index("busy") + 1 == names.index(
        "test_what_takes_cpu_time_is_named_with_its_callers"
    )
    body = profile(sampler.stacks, began=1.0, seconds=2.0, period=PERIOD)
    assert {"", "cpu", "nanoseconds", "busy", __file__} <= texts(body)


async def test_one_profile_is_taken_at_a_time(tmp_path: Path) -> None:
    routes = [*general_routes(str), *profiling_routes(lambda: 1.0)]
    async with serving_kubelet(routes, tmp_path) as at:
        reader, writer = await at.connect()
        writer.write(b"GET /debug/pprof/profile?seconds=0.5 HTTP/1.0\r\n\r\n")
        await eventually(lambda: signal.getitimer(signal.ITIMER_PROF) != (0.0, 0.0))
        refused = await at.status("GET /debug/pprof/profile HTTP/1.1")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()

    assert refused == 503
    assert b"application/octet-stream" in head
    assert "cpu" in texts(body)


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "1000"])
async def test_a_length_that_is_none_is_refused(tmp_path: Path, seconds: str) -> None:
    async with serving_kubelet(profiling_routes(lambda: 1.0), tmp_path) as at:
        line = f"GET /debug/pprof/profile?seconds={seconds} HTTP/1.1"
        assert await at.status(line) == 400


async def test_other_profiles_stay_off(tmp_path: Path) -> None:
    routes = [*general_routes(str), *profiling_routes(lambda: 1.0)]
    async with serving_kubelet(routes, tmp_path) as at:
        assert await at.status("GET /debug/pprof/heap HTTP/1.1") == 405
        assert await at.status("GET /debug/flags/v HTTP/1.1") == 405
