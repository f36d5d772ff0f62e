"""A browser without a screen, at the page of `kwokctl view`: it keeps what the events say."""

import http.client
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.support.installed import PATIENCE, Installed, end

Data = dict[str, Any]


class ViewedPage:
    """The page as a browser has it now."""

    def __init__(self, address: str) -> None:
        """Open the address, and begin to follow."""
        parts = urlsplit(address)
        self.port = int(parts.port or 0)
        self.token = parts.path.rpartition("/")[2]
        status, headers, body = self.ask(parts.path)
        assert status == 200
        found = re.search(r"url=([^\"]+)", body)
        assert found is not None
        self.path = found[1]
        self.cookie = headers["Set-Cookie"].partition(";")[0]
        self.data: Data = {}
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self._connection.request("GET", f"{self.path}events", headers={"Cookie": self.cookie})
        self._stream = self._connection.getresponse()
        assert self._stream.status == 200

    def ask(self, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, str]:
        """Return the status, the headers and the text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def until(self, what: str, holds: Callable[["ViewedPage"], object]) -> None:
        """Read events until something holds."""
        deadline = time.monotonic() + PATIENCE
        while not (self.data and holds(self)):
            assert time.monotonic() < deadline, f"{what}: {json.dumps(self.data)[:3000]}"
            self._take(self._event())

    def item(self, name: str) -> Data:
        """Return an item; empty if there is none."""
        items = (item for section in self.data["sections"] for item in section["items"])
        found: Data = next((item for item in items if item["id"] == name), {})
        return found

    def rows(self, name: str) -> list[list[str]]:
        """Return the texts of a table."""
        rows = self.item(name).get("rows", ())
        return [[c if isinstance(c, str) else c["text"] for c in row] for row in rows]

    def states(self) -> dict[str, str]:
        """Return the names of the states of all nodes on the map."""
        fleet = self.item("fleet-map")
        names = [name for group in fleet["groups"] for name in group["nodes"]]
        states = {each["code"]: each["name"] for each in fleet["states"]}
        return {names[node]: states[code] for node, code in fleet["frames"][0]["changes"]}

    def figure(self, name: str) -> str:
        """Return one of the figures in large digits."""
        return next(str(each["value"]) for each in self.data["headline"] if each["name"] == name)

    def close(self) -> None:
        """Follow no longer."""
        self._connection.close()

    def _event(self) -> tuple[str, Data]:
        name = ""
        data: Data = {}
        while line := self._stream.readline():
            if line == b"\n" and name:
                return name, data
            key, _, value = line.decode().rstrip("\n").partition(": ")
            if key == "event":
                name = value
            elif key == "data":
                data = json.loads(value)
        raise AssertionError("the stream has ended")

    def _take(self, event: tuple[str, Data]) -> None:
        name, data = event
        if name == "page":
            self.data = data
        elif name == "head":
            self.data |= data
        elif name == "section":
            sections = self.data["sections"]
            place = next(n for n, each in enumerate(sections) if each["id"] == data["id"])
            sections[place] = data
        elif name == "item":
            self.item(data["id"]).update(data)
        elif name == "patch":
            cells = self.item(data["id"])["frames"][0]["changes"]
            for node, code in data["changes"]:
                cells[node] = [node, code]


@contextmanager
def viewed(cluster: Installed, *words: str) -> Iterator[tuple[ViewedPage, "subprocess.Popen[str]"]]:
    """View a cluster meanwhile; yields the page and the command."""
    process = cluster.start("view", *words)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert " at http://127.0.0.1:" in said, said
        page = ViewedPage(said.strip().rpartition(" ")[2])
        yield page, process
        page.close()
    finally:
        end(process)
