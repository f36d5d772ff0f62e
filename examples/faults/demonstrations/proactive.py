#!/usr/bin/env python3
"""Let the same trainings run after the same storm of faults, without a check before each start and with one, and compare what is lost.

    ./proactive.py [--machines 200] [--trainings 20] [--broken 35] [--seconds 75] [--runs 5] [--folder FOLDER]

Without a check (reactive) a training that starts on a broken machine ends when its watchdog does. With one (proactive) an init container of each
worker tries its machine first, and fails in seconds. It makes the cluster `proactive`, and deletes it in the end.
"""

import argparse
from functools import partial
from pathlib import Path

import yaml
from side_by_side import DIALECT, PATIENCE, add_words, in_turn

from kwokctl import Cluster

HERE = Path(__file__).parent
REACTIVE, PROACTIVE = "reactive", "proactive"
FIGURES = ("training.goodput", "training.lost_gpu_hours", "training.stops")
CHECK = {"name": "preflight", "image": "nccl-tests"}
TRIES = "preflight=loopback"
"""What the init container tries: the devices of its own machine."""


def demonstrate(words):
    """Measure all runs in one cluster."""
    with Cluster.create("proactive", stage=["pod-kubelet"], enable_crds=["Fault"], enable=["jobset"]) as cluster:  # fmt: skip
        cluster.apply(HERE / "hung-gpu.yaml")
        cluster.scale("dgx-h100", words.machines, params=(f'.dialects = ["{DIALECT}"]',))
        print("RUN  SCHEDULING FAULTS  GOODPUT  LOST GPU-HOURS  STOPS", flush=True)
        in_turn(cluster, words, (REACTIVE, PROACTIVE), partial(run, cluster, words))


def run(cluster, words, kind, number, name):
    """Measure one run after its storm, until all trainings have had their time; runs of the same number have the same storm."""
    faults = max(1, round(words.machines * words.broken / 100))
    storm = cluster.faults.run(schedule(number, faults), wait=PATIENCE)
    load = trainings(words.trainings, has_check=kind == PROACTIVE)
    end = {"timeout": words.seconds, "allow_undrained": True}
    with cluster.measure(load=load, seed=number, record=f"{name}.jsonl.gz", **end) as measured:
        pass  # the load is all that is done
    measured.report(f"{name}.html")
    goodput, lost, stops = map(measured.number, FIGURES)
    print(f"{number:<5}{kind:<11}{storm.planned:<8}{f'{goodput:.1f} %':<9}{lost:<16.2f}{stops:.0f}", flush=True)  # fmt: skip
    return measured


def trainings(count, *, has_check):
    load = yaml.safe_load((HERE / "trainings.yaml").read_text(encoding="utf-8"))
    load["spec"]["count"] = count
    [template] = load["spec"]["create"]
    jobset = yaml.safe_load(template["template"])
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    if has_check:
        pod["metadata"]["annotations"] |= {
            "kwokctl.dev/preflight": TRIES,
            "kwokctl.dev/preflight-timeout": "4s",
            "program.kwokctl.dev/preflight": "run=2s",
        }
        pod["spec"]["initContainers"] = [CHECK]
    template["template"] = yaml.safe_dump(jobset)
    return load


def schedule(number, faults):
    """Return the schedule of a number of faults; runs with the same number have the same ones."""
    storm = yaml.safe_load((HERE / "storm.yaml").read_text(encoding="utf-8"))
    storm["spec"]["seed"] += number
    every = storm["spec"]["processes"][0]["every"]["fixed"]
    every["gap"] = f"{float(storm['spec']['horizon'].removesuffix('s')) / faults}s"
    return storm


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--machines", type=int, default=200, help="with 8 GPUs each")
    parser.add_argument("--trainings", type=int, default=20, help="of two machines each")
    parser.add_argument(
        "--broken", type=float, default=35, metavar="PERCENT", help="of the machines, by the storm"
    )
    parser.add_argument(
        "--seconds", type=float, default=75, help="of each run after its last training has come"
    )
    add_words(parser, FIGURES, "proactive", runs=5, options=["--allow-undrained"])
    demonstrate(parser.parse_args())
