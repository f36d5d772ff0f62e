"""The API server, as the remediator asks it: one session of HTTP, and a watch that begins anew when it ends."""

import base64
import json
import tempfile
import time
from pathlib import Path

import requests
import yaml

NAME = "remediator"


class Api:
    """The API server of the current context of a kubeconfig, as the user of a certificate."""

    def __init__(self, kubeconfig):
        config = yaml.safe_load(Path(kubeconfig).read_text(encoding="utf-8"))
        context = _named(config["contexts"], config["current-context"])["context"]
        cluster = _named(config["clusters"], context["cluster"])["cluster"]
        # For certificates that are in the kubeconfig itself.
        self._folder = tempfile.TemporaryDirectory()
        user = _named(config["users"], context["user"])["user"]
        self._server, self._session = cluster["server"], requests.Session()
        self._session.verify = self._file(cluster, "certificate-authority")
        parts = ("client-certificate", "client-key")
        self._session.cert = tuple(self._file(user, part) for part in parts)
        # Else REQUESTS_CA_BUNDLE would take the place of the cluster's authority.
        self._session.trust_env = False
        self._session.headers["User-Agent"] = NAME

    def ask(self, method, path, **words):
        """Return the response, whatever its status."""
        return self._session.request(method, self._server + path, timeout=(10, 600), **words)

    def get(self, path, **params):
        answer = self.ask("GET", path, params=params)
        answer.raise_for_status()
        return answer.json()

    def patch(self, path, change):
        words = {"params": {"fieldManager": NAME}, "data": json.dumps(change)}
        headers = {"Content-Type": "application/merge-patch+json"}
        self.ask("PATCH", path, headers=headers, **words).raise_for_status()

    def evict(self, pod):
        """Ask for the eviction of a pod; a budget may refuse it now, and the pod may be gone."""
        which = {key: pod["metadata"][key] for key in ("name", "namespace")}
        path = f"/api/v1/namespaces/{which['namespace']}/pods/{which['name']}/eviction"
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": which}
        self.ask("POST", path, json=body)

    def watch(self, path):
        """Yield the name and body of each object that is there, and again when it changes; without a body when it is gone.

        After all that were there an empty name is yielded.
        """
        known = set()
        while True:
            try:
                listed = self.get(path)
                there = {each["metadata"]["name"]: each for each in listed["items"]}
                yield from ((name, None) for name in known - there.keys())
                yield from there.items()
                yield "", None
                known = set(there)
                for kind, each in self._events(path, listed["metadata"]["resourceVersion"]):
                    name = each["metadata"]["name"]
                    (known.discard if kind == "DELETED" else known.add)(name)
                    yield name, None if kind == "DELETED" else each
            except requests.RequestException as e:
                print(f"the API server does not answer: {e}", flush=True)
                time.sleep(1)

    def _events(self, path, since):
        params = {"watch": "1", "resourceVersion": since}
        for line in self.ask("GET", path, params=params, stream=True).iter_lines(chunk_size=None):
            event = json.loads(line)
            if event["type"] == "ERROR":
                return
            yield event["type"], event["object"]

    def _file(self, entry, key):
        if key in entry:
            return entry[key]
        path = Path(self._folder.name) / key
        path.write_bytes(base64.b64decode(entry[f"{key}-data"]))
        return str(path)


def _named(items, name):
    return next(each for each in items if each["name"] == name)
