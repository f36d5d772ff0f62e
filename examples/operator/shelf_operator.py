"""An operator: it keeps as many books, which are ConfigMaps, on each Shelf as its spec says.

It works as controllers do: two watches fill two caches, and a queue says which Shelf to look at. What one watch shows says
nothing about how far the other one has come.
"""

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from api import Api, Object, Watch

SHELVES = "/apis/example.com/v1/shelves"
BOOKS = "/api/v1/configmaps"


def key_of(obj: Object) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


class Cache:
    """The objects of a kind, as a list and the watch after it have shown them."""

    def __init__(self, api: Api, path: str, changed: Callable[[Object], None]) -> None:
        listed = api.call("GET", path)
        self.objects: dict[str, Object] = {key_of(each): each for each in listed["items"]}
        self._changed = changed
        since = listed["metadata"]["resourceVersion"]
        self._watch = Watch(
            api, f"{path}{'&' if '?' in path else '?'}watch=1&resourceVersion={since}"
        )
        self._may_follow = threading.Event()
        self._may_follow.set()
        self._thread = threading.Thread(target=self._follow)

    def start(self) -> None:
        for each in list(self.objects.values()):
            self._changed(each)
        self._thread.start()

    def fall_behind(self) -> None:
        """Handle no event for a while, as happens on a busy machine."""
        self._may_follow.clear()

    def catch_up(self) -> None:
        self._may_follow.set()

    def stop(self) -> None:
        self._watch.end()
        self._may_follow.set()
        self._thread.join()

    def _follow(self) -> None:
        for event in self._watch.events():
            self._may_follow.wait()
            obj = event["object"]
            if event["type"] == "DELETED":
                self.objects.pop(key_of(obj), None)
            else:
                self.objects[key_of(obj)] = obj
            self._changed(obj)


class Operator:
    """It can be stopped and started again; nothing that it knew before is left then."""

    def __init__(self, kubeconfig: Path) -> None:
        self._api = Api(kubeconfig)
        self.actions: list[str] = []
        """What it has done."""
        self.seen: list[str] = []
        """The Shelves that it has looked at since it was started."""
        self._news = threading.Condition()

    def start(self) -> None:
        self._due: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.seen = []
        self.books = Cache(self._api, f"{BOOKS}?labelSelector=shelf", self._book_changed)
        self.shelves = Cache(self._api, SHELVES, lambda shelf: self._due.put(key_of(shelf)))
        self._worker = threading.Thread(target=self._work)
        self._worker.start()
        self.books.start()
        self.shelves.start()

    def stop(self) -> None:
        for cache in (self.books, self.shelves):
            cache.stop()
        self._due.put(None)
        self._worker.join()

    def wait_until(self, is_done: Callable[[], bool], seconds: float = 60) -> None:
        """Wait for what a test expects of `actions` or `seen`."""
        with self._news:
            assert self._news.wait_for(is_done, seconds), (self.actions, self.seen)

    def _note(self, where: list[str], what: str) -> None:
        with self._news:
            where.append(what)
            self._news.notify_all()

    def _book_changed(self, book: Object) -> None:
        self._due.put(f"{book['metadata']['namespace']}/{book['metadata']['labels']['shelf']}")

    def _work(self) -> None:
        while (key := self._due.get()) is not None:
            if shelf := self.shelves.objects.get(key):
                self._look_at(shelf)
                self._note(self.seen, key)

    def _look_at(self, shelf: Object) -> None:
        owner = shelf["metadata"]["uid"]
        books = [
            key
            for key, book in list(self.books.objects.items())
            if book["metadata"]["ownerReferences"][0]["uid"] == owner
        ]
        wanted = shelf["spec"].get("books", 0)
        for _ in range(wanted - len(books)):
            self._add_to(shelf)
        for key in books[wanted:]:
            self._remove(key)

    def _add_to(self, shelf: Object) -> None:
        path = f"/api/v1/namespaces/{shelf['metadata']['namespace']}/configmaps"
        book = self._api.call("POST", path, _book_for(shelf))
        self.books.objects[key_of(book)] = book
        self._note(self.actions, f"added {key_of(book)}")

    def _remove(self, key: str) -> None:
        namespace, name = key.split("/")
        self._api.call("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/{name}")
        self.books.objects.pop(key, None)
        self._note(self.actions, f"removed {key}")


def _book_for(shelf: Object) -> dict[str, Any]:
    name, uid = shelf["metadata"]["name"], shelf["metadata"]["uid"]
    owner = {"apiVersion": "example.com/v1", "kind": "Shelf", "name": name, "uid": uid}
    metadata = {"generateName": f"{name}-", "labels": {"shelf": name}, "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
