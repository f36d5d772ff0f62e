"""What decides whether an Event goes to etcd or through the API server."""

from kwokctl.dataplane.events import event_bytes
from kwokctl.dataplane.events.event_writer import EventWriter
from kwokctl.dataplane.object_store import ObjectStore
from tests.support.mutants.mutant import Mutant

MUTANTS = (
    # Which way.
    Mutant(EventWriter.record, "if event.count > 1 and", "if"),
    Mutant(EventWriter.record, "if event.count > 1 and await self._recount(event):", "if False:"),
    Mutant(EventWriter.record, "not await self.record_with(event, self._add)", "False"),
    Mutant(EventWriter._is_undecided, "self._is_possible and", ""),
    Mutant(EventWriter._is_undecided, "and self._expiry is None", ""),
    # What the first one shows.
    Mutant(EventWriter._look, "found is None or", ""),
    Mutant(EventWriter._look, "or not found.value.startswith(PREFIX)", ""),
    Mutant(
        EventWriter._look,
        "if found.lease else 0",
        "if True else 0",
        equivalent="etcd answers that a lease which there is not was made for no time",
    ),
    Mutant(EventWriter._look, "if seconds or not found.lease:", "if True:"),
    Mutant(EventWriter._look, "if seconds or not found.lease:", "if seconds:"),
    # One in etcd.
    Mutant(EventWriter.record_with, "if self._expiry is None:", "if False:"),
    Mutant(EventWriter.record_with, "if e.code != _NOT_FOUND:", "if False:"),
    Mutant(EventWriter.record_with, "if not revision:", "if False:"),
    Mutant(EventWriter._namespace_version, "if version is None:", "if True:"),
    Mutant(
        EventWriter._namespace_version, 'if found.get("deletionTimestamp") else', "if False else"
    ),
    # One that is seen again.
    Mutant(EventWriter._recount, "if self._expiry is None:", "if False:"),
    Mutant(EventWriter._recount, "if found is None:", "if False:"),
    Mutant(EventWriter._recount, "if value is None:", "if False:"),
    Mutant(event_bytes.recounted, "if not stored.startswith(PREFIX):", "if False:"),
    Mutant(event_bytes.recounted, "if not found:", "if False:"),
    Mutant(event_bytes._owned, "if not is_there", "if False"),
    Mutant(event_bytes._owned, "if manager else", "if True else"),
    # Together with a status.
    Mutant(ObjectStore.change_and_add, "Compare(new.key, 0, of_creation=True), given", "given"),
    Mutant(
        ObjectStore.change_and_add,
        "Compare(new.key, 0, of_creation=True), given",
        "Compare(new.key, 0, of_creation=True)",
    ),
    Mutant(ObjectStore.change_and_add, "found.mod_revision == version", "True"),
    Mutant(ObjectStore.change_and_add, "found.mod_revision == version", "False"),
)
"""One for each condition and comparison."""
