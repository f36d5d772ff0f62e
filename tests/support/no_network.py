"""A network with nothing but loopback, for some processes of this machine."""

import os
import shutil
import subprocess
import sys

import pytest

_LOOPBACK = """
import fcntl, os, socket, struct, sys
with socket.socket() as any_one:
    # SIOCSIFFLAGS of netdevice(7), with IFF_UP.
    fcntl.ioctl(any_one, 0x8914, struct.pack("16sh22x", b"lo", 1))
os.execvp(sys.argv[1], sys.argv[1:])
"""


def without_network() -> list[str]:
    """Return the words that run a command without a network; skip the test where there are none."""
    words = ["unshare", "--net", sys.executable, "-c", _LOOPBACK]
    if os.getuid():
        words.insert(1, "--map-root-user")
    if not shutil.which("unshare") or subprocess.run([*words, "true"], check=False).returncode:
        pytest.skip("no network namespace can be made here")
    return words
