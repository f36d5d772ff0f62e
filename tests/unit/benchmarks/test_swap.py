import subprocess
import sys

import pytest

from benchmarks.swap import swapped

_PROGRAM = "from kwokctl.etcd.kv.kv import Channel; print(Channel.__name__)"


@pytest.mark.parametrize(
    ("changer", "channel"),
    [("benchmarks.etcd_libraries.swapping", "SwappedChannel"), (None, "Channel")],
)
def test_processes_use_another_client_only_while_and_where_it_is_requested(
    changer: str | None, channel: str
) -> None:
    with swapped("kwokctl.etcd.grpc.channel", changer, "grpc.aio"):
        assert _channel() == channel
    assert _channel() == "Channel"


def _channel() -> str:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()
