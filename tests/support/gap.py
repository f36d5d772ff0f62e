"""A program outside that takes a port between its choice and the start of who was given it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.installed import Installed
from tests.support.ports import free_port

_TAKER = Path(__file__).parent / "programs" / "taker.py"


@contextmanager
def port_taken_in_the_gap(cluster: Installed) -> Iterator[int]:
    """Yield a port that is free until the cluster's ports have been chosen and are written down."""
    port = free_port()
    written = cluster.workdir / "clusters" / cluster.name / "kwok.yaml"
    taker = subprocess.Popen([sys.executable, "-S", str(_TAKER), str(port), str(written)])
    try:
        yield port
    finally:
        taker.kill()
        taker.wait()
