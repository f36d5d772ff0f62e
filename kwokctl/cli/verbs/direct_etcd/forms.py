"""Writes what is in etcd to standard output: keys, YAML, JSON, or the values as they are."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from kwokctl.cli.output import results

if TYPE_CHECKING:
    from kwokctl.dataplane.objects.stored_values import StoredObject
    from kwokctl.etcd.kv.kv import KeyChange, KeyValue

FORMS = ("key", "yaml", "json", "raw", "none")


class ObjectPrinter:
    """Writes one object after the other, and remembers those that could not be shown."""

    def __init__(self, form: str) -> None:
        """Write in one of `FORMS`."""
        self._form = form
        self.faults: list[str] = []
        self.write: Callable[[KeyValue], None] = {
            "key": self._key,
            "yaml": self._yaml,
            "json": self._json,
            "raw": self._raw,
        }.get(form, self._nothing)

    def write_change(self, change: "KeyChange") -> None:
        """Write an object that was written; of one that was deleted, say that it is gone."""
        if not change.is_deleted:
            self.write(change.item)
        elif self._form == "yaml":
            results.emit(f"---\n# {change.item.key.decode(errors='replace')} | deleted\n")
        elif self._form == "json":
            self.faults.append(f"'{change.item.key.decode(errors='replace')}' was deleted")
        else:
            self.write(change.item)

    def _nothing(self, _item: "KeyValue") -> None:
        return

    def _key(self, item: "KeyValue") -> None:
        results.emit_bytes(item.key + b"\n")

    def _raw(self, item: "KeyValue") -> None:
        results.emit_bytes(item.key + b"\n" + item.value + b"\n")

    def _json(self, item: "KeyValue") -> None:
        from kwokctl.dataplane.objects.stored_values import json_value

        if found := self._decoded(item):
            results.emit_bytes(json_value(found.document))

    def _yaml(self, item: "KeyValue") -> None:
        from kwokctl.expr import yaml

        key = item.key.decode(errors="replace")
        if found := self._decoded(item):
            text = yaml.dump(found.document, sort_keys=True)
            results.emit(f"---\n# {key} | {found.media_type}\n{text}\n")
        else:
            results.emit(f"---\n# {key} | raw\n")

    def _decoded(self, item: "KeyValue") -> "StoredObject | None":
        from kwokctl.dataplane.objects.stored_values import UndecodableError, decoded

        key = item.key.decode(errors="replace")
        try:
            found = decoded(item.value)
        except UndecodableError as e:
            self.faults.append(f"'{key}' cannot be shown: {e}; read it with -o raw")
            return None
        if found.unknown:
            missing = ", ".join(sorted(found.unknown))
            self.faults.append(f"'{key}' has fields that are not shown: {missing}")
        return found
