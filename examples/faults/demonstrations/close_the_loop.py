#!/usr/bin/env python3
"""Let a GPU of a training drop out, without a remediator and with one, and compare where the training starts anew.

    ./close_the_loop.py [--workers 4] [--spare 2] [--runs 1] [--noticed 3] [--skip-drain] [--folder FOLDER]

It makes the cluster `close-the-loop`, and deletes it in the end. The folder then has the page of the comparison, and of each run its page, its
record and its pods. With `--skip-drain` the remediator only cordons, and the descheduler drains.
"""

import argparse
import csv
import os
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import yaml
from side_by_side import DIALECT, PATIENCE, add_words, in_turn

from kwokctl import Cluster

HERE = Path(__file__).parent
WITHOUT, WITH = "without", "with"
FIGURES = (
    "incidents.bad_placements",
    "incidents.repeat_offenders",
    "gangs.jct.mean",
    "fleet.evictions",
)


def demonstrate(words):
    """Measure all runs in one cluster, and print how the training went in each."""
    add_ons = ["jobset", "descheduler"] if words.skip_drain else ["jobset"]
    options = {"stage": ["pod-kubelet"], "enable_crds": ["Fault"], "enable": add_ons}
    with Cluster.create("close-the-loop", **options) as cluster:
        cluster.apply(HERE / "dropped-gpu.yaml")
        for name, size in (("train", words.workers), ("spare", words.spare)):
            cluster.scale("dgx-h100", size, name=name, params=(f'.dialects = ["{DIALECT}"]',))
        print(
            f"{'REMEDIATOR':<12}{'TRAINING':<12}{'RESTARTS':<10}BACK ON THE BROKEN NODE", flush=True
        )
        in_turn(cluster, words, (WITHOUT, WITH), partial(run, cluster, words))


def run(cluster, words, kind, _number, name):
    """Measure one run: a GPU of the training drops out.

    A person notices when the training has ended, or was started anew a number of times, and repairs the node.
    """
    with cluster.measure(record=f"{name}.jsonl.gz") as measured, remediator(cluster, words, kind):
        cluster.apply(training(words.workers))
        first = cluster.wait_for("pods", "Ready", count=words.workers, timeout=PATIENCE)
        node = first[0]["spec"]["nodeName"]
        fault = cluster.faults.inject(
            "dropped-gpu", nodes=node, parameters={"gpu": 3}, dialects=DIALECT, seed=1
        )
        noticed = partial(is_noticed, words.noticed)
        [jobset] = cluster.wait_for("jobset/training", noticed, timeout=PATIENCE)
        if not has_ended(jobset):  # it is counted before its pods are there
            started = partial(is_of_start, words.noticed)
            cluster.wait_for("pods", started, count=words.workers, timeout=PATIENCE)
        fault.clear()  # the repair
        [jobset] = cluster.wait_for("jobset/training", has_ended, timeout=PATIENCE)
        cluster.wait_for(f"node/{node}", is_schedulable, timeout=PATIENCE)
    measured.report(f"{name}.html")
    with Path(f"{name}.pods.csv").open(encoding="utf-8", newline="") as file:
        pods = [each for each in csv.DictReader(file) if each["node"] == node]
    state = jobset["status"]
    # The first pod on the node was there when the GPU dropped out.
    print(f"{kind:<12}{state['terminalState']:<12}{state.get('restarts', 0):<10}{len(pods) - 1}", flush=True)  # fmt: skip
    return measured


def training(workers):
    jobset = yaml.safe_load((HERE / "training.yaml").read_text(encoding="utf-8"))
    size = {"parallelism": workers, "completions": workers}
    jobset["spec"]["replicatedJobs"][0]["template"]["spec"] |= size
    return jobset


def has_ended(jobset):
    return "terminalState" in jobset.get("status", {})


def is_noticed(restarts, jobset):
    return has_ended(jobset) or jobset.get("status", {}).get("restarts", 0) >= restarts


def is_of_start(restarts, pod):
    """Tell whether a pod is on a node, and is not of an earlier start."""
    start = int(pod["metadata"]["labels"]["jobset.sigs.k8s.io/restart-attempt"])
    return start >= restarts and "nodeName" in pod["spec"]


def is_schedulable(node):
    return not node["spec"].get("unschedulable")


@contextmanager
def remediator(cluster, words, kind):
    """Run the remediator beside a run that is to have one; what it does goes to standard error."""
    if kind == WITHOUT:
        yield
        return
    command = [sys.executable, HERE / "remediator.py", "--condition", "GpuCount=True"]
    command += ["--stop-at", str(words.stop_at), *(["--skip-drain"] if words.skip_drain else [])]
    environment = os.environ | {"KUBECONFIG": str(cluster.kubeconfig)}
    process = subprocess.Popen(command, env=environment, stdout=sys.stderr)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", type=int, default=4, help="machines of the training")
    parser.add_argument("--spare", type=int, default=2, help="further machines")
    parser.add_argument(
        "--noticed", type=int, default=3, help="restarts after which a person repairs the node"
    )
    parser.add_argument(
        "--stop-at", type=float, default=20, metavar="PERCENT", help="of the remediator"
    )
    parser.add_argument("--skip-drain", action="store_true", help="let the descheduler drain")
    add_words(parser, FIGURES, "close-the-loop", runs=1)
    demonstrate(parser.parse_args())
