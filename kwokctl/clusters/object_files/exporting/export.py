"""Writes the objects of a cluster to a file, as documents.

Rules are applied by `rules.applying`. Secrets are left out without any rule, in `chosen_kinds`.
"""

import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec

from kwokctl.clusters.object_files.exporting.chosen_kinds import (
    ChosenKinds,
    chosen_kinds,
    definitions_of,
)
from kwokctl.clusters.object_files.exporting.listing import KindPage, Listing, ReadOptions
from kwokctl.clusters.object_files.exporting.part_file import PartFile
from kwokctl.clusters.object_files.object_documents import (
    document_of,
    listed_document,
    listed_object,
)
from kwokctl.clusters.object_files.rules.applying import Scrubber
from kwokctl.clusters.object_files.rules.field_names import custom_fields
from kwokctl.clusters.object_files.rules.rules_file import TWIN, SnapshotRules
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.time_travel.reach import reached
from kwokctl.embedded.cluster_access import cluster_access, keep_credential, with_credential
from kwokctl.errors import NotFoundError
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.served_kinds import ServedKinds, served_kinds
from kwokctl.kube.transport.pool import USER_AGENT, Pool
from kwokctl.model import ClusterName
from kwokctl.progress import Progress
from kwokctl.replacing import replace
from kwokctl.tasks import beside

CONNECTIONS = 8
_TIMEOUT = 60.0
"""Seconds for an answer: that is how long an API server works at one."""


class ExportSource(msgspec.Struct, frozen=True, kw_only=True):
    """Any cluster, and in whose place to ask it."""

    kubeconfig: Path | None = None
    as_user: str = ""
    as_groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"the cluster of '{self.kubeconfig}'"
            if self.kubeconfig
            else "the cluster of '~/.kube/config'"
        )

    def access(self) -> Access:
        """Return how to reach it; without a kubeconfig it is the user's, or the pod's own."""
        found = cluster_access(self.kubeconfig, "")
        return replace(found, as_user=self.as_user, as_groups=self.as_groups)

    @asynccontextmanager
    async def connected(
        self, *, user_agent: str = USER_AGENT
    ) -> AsyncIterator[tuple[Access, Pool]]:
        """Yield how it is reached, and connections whose credential is kept valid."""
        access = await with_credential(self.access())
        async with (
            Pool(access, connections=CONNECTIONS, timeout=_TIMEOUT, user_agent=user_agent) as pool,
            beside(keep_credential(pool, access)),
        ):
            yield access, pool


class ExportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of an export: which objects to write, and to which file."""

    path: Path
    kinds: Sequence[str] = ()
    """Words for kinds; without any, the usual ones and custom resources."""
    with_secrets: bool = False
    reading: ReadOptions = msgspec.field(default_factory=ReadOptions)
    rules: SnapshotRules | None = None
    """The rules that change objects before they are written."""
    force: bool = False
    resumes: bool = True
    """Whether a later run goes on where this one was interrupted."""


class ExportedObjects(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an export."""

    path: Path
    size: int
    objects: int
    unknown: tuple[str, ...]
    """Kinds that were chosen, and that the cluster does not have."""
    lacks_secrets: bool
    """Whether Secrets were left out because they were not chosen."""


async def export_objects(
    source: ExportSource, request: ExportRequest, progress: Progress
) -> ExportedObjects:
    """Write the objects of any cluster; after an interruption, the same request continues it."""
    async with source.connected() as (access, pool):
        who = (access.server, access.as_user, *access.as_groups)
        return await ObjectExport(Client(pool), who, request, progress).run()


async def save_objects(home: Home, name: ClusterName, request: ExportRequest) -> ExportedObjects:
    """Write the objects of a cluster of this kwokctl that runs."""
    async with reached(home, name) as reach:
        return await ObjectExport(reach.client, (name,), request, home.progress).run()


class ObjectExport:
    """One run of an export."""

    def __init__(
        self, client: Client, source: Sequence[str], request: ExportRequest, progress: Progress
    ) -> None:
        """Read through `client` from what `source` tells from others."""
        self._client = client
        self._source = source
        self._request = request
        self._progress = progress

    async def run(self) -> ExportedObjects:
        """Write the whole file; NotFoundError if there is nothing to write."""
        request = self._request
        served = await served_kinds(self._client)
        choice = await chosen_kinds(
            self._client, served, request.kinds, with_secrets=request.with_secrets
        )
        file = PartFile(
            request.path,
            self._fingerprint(choice),
            force=request.force,
            resumes=request.resumes,
        )
        with file, self._explaining(file):
            scrubber = await scrubber_of(self._client, served, request.rules, file.journal.salt)
            await self._fill(file, choice, scrubber)
            size = file.finish()
        return ExportedObjects(
            path=request.path,
            size=size,
            objects=file.journal.objects,
            unknown=tuple(choice.unknown),
            lacks_secrets=choice.lacks_secrets,
        )

    async def _fill(self, file: PartFile, choice: ChosenKinds, scrubber: Scrubber | None) -> None:
        if file.journal.objects:
            self._progress.note(f"continuing after {file.journal.objects:,} objects")
        listing = Listing(self._client.pool, choice.kinds, self._request.reading)
        with self._progress.step("Reading objects", unit="objects") as step:
            step.advance(file.journal.objects)
            async for page in listing.pages(file.journal.place):
                step.say(choice.kinds[page.kind].resource.plural)
                _write(file, page, choice, scrubber)
                step.advance(len(page.content.objects))
        if not file.journal.objects:
            raise NotFoundError(
                "there is no object of the chosen kinds",
                hint="choose others with --filter, by the names of: kubectl api-resources",
            )

    def _fingerprint(self, choice: ChosenKinds) -> str:
        """Return what distinguishes this export from others to the same file."""
        kinds = (kind.resource.path() for kind in choice.kinds)
        words = (
            *self._source,
            *kinds,
            str(self._request.reading.page_size),
            repr(self._request.rules),
        )
        return hashlib.sha256("\n".join(words).encode()).hexdigest()

    @contextmanager
    def _explaining(self, file: PartFile) -> Iterator[None]:
        """Say how to go on if the block fails in the middle."""
        try:
            yield
        except BaseException:
            if self._request.resumes and file.journal.objects:
                text = f"{file.journal.objects:,} objects are kept: repeat the command to go on"
                self._progress.note(text)
            raise


def _write(file: PartFile, page: KindPage, choice: ChosenKinds, scrubber: Scrubber | None) -> None:
    if page.is_first:
        file.begin_kind()
    resource, objects = choice.kinds[page.kind].resource, page.content.objects
    if scrubber is None:
        file.write([listed_document(raw, resource) for raw in objects])
    else:
        scrubbed = (scrubber.scrubbed(listed_object(raw, resource)) for raw in objects)
        file.write([document_of(value) for value in scrubbed if value is not None])
    file.keep(page.next)


async def scrubber_of(
    client: Client, served: ServedKinds, rules: SnapshotRules | None, salt: str
) -> Scrubber | None:
    """Return what applies rules to objects; None without rules.

    A twin hides every name in a custom resource that its definition does not declare. Where the caller
    may not see definitions, those are all names.
    """
    if rules is None:
        return None
    definitions = await definitions_of(client, served) if rules.base == TWIN else []
    return Scrubber(rules, salt, custom_fields(definitions))
