#!/usr/bin/env python3
"""Cordon nodes whose agents say that they are broken, drain them, and take them back once they are healthy again.

    ./remediator.py --condition GpuCount=True [--stop-at 20] [--skip-drain]

It stops while more than `--stop-at` percent of all nodes are broken: then the network, or a check that is wrong, is a likelier cause
than the nodes. KUBECONFIG names the cluster. It needs the packages requests and PyYAML.
"""

import argparse
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import requests
from api import Api

MARK = "example.com/cordoned-by-remediator"
NODES = "/api/v1/nodes"


class Remediator:
    """Which nodes are broken, which of them it has cordoned, and whether it has stopped."""

    def __init__(self, api, conditions, stop_at, *, drains):
        self.api, self.conditions, self.stop_at, self.drains = api, conditions, stop_at, drains
        self.nodes, self.broken, self.ours, self.waiting = set(), set(), set(), set()
        self.is_listed = self.is_stopped = False
        self.workers = ThreadPoolExecutor(8)

    def follow(self):
        """Look at each node when it changes, until the program is ended."""
        try:
            for name, node in self.api.watch(NODES):
                if name:
                    self.take(name, node)
                else:  # how many nodes there are is known now
                    self.is_listed = True
                if self.is_listed:
                    self.act()
        finally:
            self.ours.clear()  # so that nothing is drained any more

    def take(self, name, node):
        is_new = name not in self.nodes
        for names in (self.nodes, self.broken, self.waiting):
            names.discard(name)
        if node is None:
            self.ours.discard(name)
        else:
            self.look_at(name, node, is_new=is_new)

    def look_at(self, name, node, *, is_new):
        self.nodes.add(name)
        is_marked = is_new and MARK in (node["metadata"].get("annotations") or {})
        if is_marked:  # before this program was started again
            self.ours.add(name)
        if self.is_broken(node):
            self.broken.add(name)
            if is_marked or (name not in self.ours and not node["spec"].get("unschedulable")):
                self.waiting.add(name)
        elif name in self.ours:
            self.ours.discard(name)
            self.cordon(name, wanted=False)

    def is_broken(self, node):
        shown = {(each["type"], each["status"]) for each in node["status"].get("conditions", ())}
        return bool(shown & self.conditions)

    def act(self):
        """Cordon and drain broken nodes that are not cordoned yet, unless too many are broken."""
        stops = len(self.broken) * 100 > self.stop_at * len(self.nodes)
        if stops != self.is_stopped:
            self.is_stopped = stops
            of = f"{len(self.broken)} of {len(self.nodes)} nodes are broken, the limit is {self.stop_at:g} %"
            print(f"{'stopped' if stops else 'at work again'}: {of}", flush=True)
        while self.waiting and not stops:
            name = self.waiting.pop()
            self.ours.add(name)
            self.cordon(name, wanted=True)
            if self.drains:
                self.workers.submit(self.drain, name)

    def cordon(self, name, *, wanted):
        mark = {"annotations": {MARK: "yes" if wanted else None}}
        change = {"metadata": mark, "spec": {"unschedulable": True if wanted else None}}
        try:
            self.api.patch(f"{NODES}/{name}", change)
        except requests.RequestException as e:
            self.ours ^= {name}  # tried again when the node is seen again
            print(f"cannot change {name}: {e}", flush=True)
            return
        print(f"{'cordoned' if wanted else 'uncordoned'} {name}", flush=True)

    def drain(self, name):
        """Evict pods until none is left; one that a budget protects now is tried again."""
        while name in self.ours:
            try:
                pods = self.api.get("/api/v1/pods", fieldSelector=f"spec.nodeName={name}")["items"]
                if not (left := [each for each in pods if is_to_go(each)]):
                    print(f"drained {name}", flush=True)
                    return
                for each in left:
                    self.api.evict(each)
            except requests.RequestException as e:
                print(f"cannot drain {name}: {e}", flush=True)
            time.sleep(0.5)


def is_to_go(pod):
    """Tell whether a pod has not ended, is not deleted yet, and is not of a DaemonSet."""
    owners = pod["metadata"].get("ownerReferences") or ()
    if any(each["kind"] == "DaemonSet" for each in owners):
        return False
    is_over = pod["status"].get("phase") in ("Succeeded", "Failed")
    return not is_over and "deletionTimestamp" not in pod["metadata"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--condition", action="append", required=True, metavar="TYPE=STATUS")
    parser.add_argument("--stop-at", type=float, default=20, metavar="PERCENT")
    parser.add_argument(
        "--skip-drain", action="store_true", help="others drain, such as the descheduler"
    )
    words = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    wanted = {tuple(each.split("=", 1)) for each in words.condition}
    api = Api(os.environ["KUBECONFIG"])
    Remediator(api, wanted, words.stop_at, drains=not words.skip_drain).follow()
