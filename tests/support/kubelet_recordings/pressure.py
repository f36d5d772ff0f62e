"""Takes memory of kind's node until its kubelet evicts, and gives it back.

That kubelet counts as used what the container of the node uses, so the rest of the machine does not matter.
"""

import re
import subprocess
from pathlib import Path

_CONFIGURATION = "/var/lib/kubelet/config.yaml"
_FILE = "/run/pressed"
"""On a file system in memory."""
_BYTES = 1_500_000_000
"""What is taken; less must be used without it."""


def allow(node: str) -> None:
    """Have a kubelet evict as soon as that much is used, and recover at once."""
    total = re.search(r"MemTotal: +(\d+) kB", Path("/proc/meminfo").read_text())
    assert total is not None
    threshold = int(total[1]) - _BYTES // 1024
    _run(
        node,
        rf"sed -i -e 's/^evictionHard:/&\n  memory.available: {threshold}Ki/'"
        rf" -e 's/^evictionPressureTransitionPeriod:.*/evictionPressureTransitionPeriod: 1s/'"
        f" {_CONFIGURATION} && systemctl restart kubelet",
    )


def begin(node: str) -> None:
    """Take the memory."""
    _run(node, f"head -c {_BYTES} /dev/zero >{_FILE}")


def end(node: str) -> None:
    """Give it back."""
    _run(node, f"rm -f {_FILE}")


def _run(node: str, script: str) -> None:
    subprocess.run(["docker", "exec", node, "sh", "-c", script], check=True)
