"""Records the runs whose reports the site shows: `python docs/record_samples.py [NAME ...]`.

A run takes some minutes in clusters in a work folder of its own, which are deleted again. The records stay in
`docs/samples`; `docs/build_site.py` makes reports of them.
"""

import os
import subprocess  # noqa: TID251 - kwokctl writes to the terminal of the caller
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).parent / "samples"
_PACKING = "examples/measure/packing"
_REPEATED = "--repeat 5 --seed 1 --vary-seed"
SAMPLES: Mapping[str, tuple[str, ...]] = {
    "training": (
        "create cluster --stage pod-kubelet --stage node-chaos --enable-crds Fault --wait",
        "scale dgx-h100 --replicas 32 --wait",
        f"measure --load {FOLDER}/training.yaml --seed 7 --record {FOLDER}/training.jsonl.gz -- sh {FOLDER}/break-some.sh",
    ),
    "packing": (
        f"create cluster --stage pod-kubelet --kube-scheduler-config {_PACKING}/scheduler.yaml --wait",
        """scale node gpu --replicas 16 --param '.allocatable["nvidia.com/gpu"] = "8"' --wait""",
        *(
            f"measure --load {_PACKING}/{kind}-allocated.yaml {_REPEATED} --record {FOLDER}/packing/{kind}.jsonl.gz"
            for kind in ("least", "most")
        ),
    ),
}
"""The commands of each sample, without the name of the program."""


def record(name: str) -> None:
    """Run the commands of a sample; its clusters are deleted also if one fails."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "kwokctl"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m kwokctl "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        environment = {
            **os.environ,
            "KWOK_WORKDIR": f"{folder}/work",
            "KUBECONFIG": f"{folder}/kubeconfig",
            "PATH": f"{folder}:{os.environ['PATH']}",
        }
        try:
            for words in SAMPLES[name]:
                _run(words, environment)
        finally:
            _run("delete cluster --all", environment)


def _run(words: str, environment: Mapping[str, str]) -> None:
    command = f"kwokctl {words}"
    sys.stderr.write(f"$ {command}\n")
    subprocess.run(command, shell=True, check=True, cwd=ROOT, env=environment)  # noqa: S602 - the commands above


def main() -> int:
    """Record the samples that are named, or all."""
    for name in sys.argv[1:] or SAMPLES:
        (FOLDER / "packing").mkdir(parents=True, exist_ok=True)
        record(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
