"""What the SDK of the container engine raises, and that threads can load it at the same time."""

import subprocess
import sys

LOADING = """
import sys
import threading

from runtimes.engine.explained import explained

failures = []


def load():
    try:
        with explained("unix:///engine.sock", "start it"):
            from docker.tls import TLSConfig
    except ImportError as e:
        failures.append(e)


first = threading.Thread(target=load)
first.start()
while "docker.errors" not in sys.modules:
    pass
load()
first.join()
sys.exit(str(failures) if failures else 0)
"""
"""The second thread begins when the first one has loaded a part of the package."""


def test_two_threads_can_load_the_sdk_at_the_same_time() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, check=False, timeout=60
    )

    assert (done.returncode, done.stderr) == (0, "")
