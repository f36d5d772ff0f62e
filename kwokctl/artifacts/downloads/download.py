"""Downloads programs, checks them, takes them out of release archives, and puts them into the store."""

import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from itertools import groupby
from operator import attrgetter
from pathlib import Path, PurePosixPath
from threading import Event
from typing import IO

import msgspec

from kwokctl.artifacts.background import Post, in_thread
from kwokctl.artifacts.downloads import trust
from kwokctl.artifacts.downloads.http_failures import Trouble
from kwokctl.artifacts.downloads.transfer import Transfer, discard, filename, host_of, public
from kwokctl.artifacts.downloads.trust import NOTHING, Expected, expected
from kwokctl.artifacts.locations import Order, is_url
from kwokctl.artifacts.programs import relatives
from kwokctl.artifacts.store import Entry, ProgramStore, digest
from kwokctl.errors import ArtifactError
from kwokctl.host.files import naming
from kwokctl.progress import Progress, Step
from kwokctl.replacing import replace

_BLOCK = 1 << 20


def extract(
    archive: Path, members: Collection[str], folder: Path, *, title: str
) -> dict[str, Path]:
    """Write those of `members` that are in the archive into `folder`, in one pass.

    Members are known by their file name alone, wherever they are in the archive, so that none
    can be written elsewhere. `title` names the archive in errors. Raises ArtifactError when it
    is neither a tar archive nor a zip file, or is damaged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Path] = {}
    files = _zipped if zipfile.is_zipfile(archive) else _tarred
    try:
        with closing(files(archive)) as contents:
            for name, content in contents:
                if name in members and name not in found:
                    found[name] = _written(content, folder / name)
                if len(found) == len(members):
                    break
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as e:
        raise ArtifactError(
            f"'{title}' is not a complete tar or zip archive",
            hint="'#' is for archives only: give the address of a program itself without it",
            detail=str(e) or None,
        ) from e
    return found


def _written(content: IO[bytes], path: Path) -> Path:
    with naming(path), path.open("wb") as target:
        shutil.copyfileobj(content, target, _BLOCK)
    return path


def _tarred(archive: Path) -> Generator[tuple[str, IO[bytes]], None, None]:
    with tarfile.open(archive) as tar:
        for member in tar:
            if content := tar.extractfile(member) if member.isfile() else None:
                yield PurePosixPath(member.name).name, content


def _zipped(archive: Path) -> Generator[tuple[str, IO[bytes]], None, None]:
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            if not member.is_dir():
                with packed.open(member) as content:
                    yield PurePosixPath(member.filename).name, content


async def download(
    orders: Sequence[Order], *, store: ProgramStore, folder: Path, progress: Progress
) -> Trouble | None:
    """Download all orders into the store, each address once.

    `folder` keeps partial downloads. Returns why addresses failed; raises ArtifactError when a file
    cannot be trusted or used.
    """
    for url, same in groupby(sorted(orders, key=attrgetter("url")), attrgetter("url")):
        parcel = _Parcel(url, tuple(same), store, folder, progress)
        if trouble := await parcel.deliver():
            return trouble
    return None


def unpack(
    order: Order, file: Path, *, store: ProgramStore, folder: Path, progress: Progress
) -> None:
    """Put what is ordered into the store from a file that was downloaded otherwise, and checked.

    `folder` is empty, and on the file system of the store.
    """
    copy = folder / filename(order.url)
    shutil.copyfile(file, copy)
    _Parcel(order.url, (order,), store, folder, progress).unpack(copy, "")


class _Shown:
    """Shows a transfer as a step: called in its thread, it posts to the task that waits for it."""

    def __init__(self, step: Step, post: Post) -> None:
        self.post = post
        self._step = step
        self._done = 0

    def begin(self, total: int | None, done: int) -> None:
        self.say("")
        self.post(self._step.expect, total)
        self.advance(done - self._done)

    def advance(self, amount: int) -> None:
        self._done += amount
        self.post(self._step.advance, amount)

    def say(self, what: str) -> None:
        self.post(self._step.say, what)


class _NotDeliveredError(Exception):
    """Ends a step as one that has failed."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(str(trouble))
        self.trouble = trouble


class _Parcel(msgspec.Struct, frozen=True):
    """One address and the programs that come from it."""

    url: str
    orders: tuple[Order, ...]
    store: ProgramStore
    folder: Path
    progress: Progress

    async def deliver(self) -> Trouble | None:
        if not is_url(self.url):
            path = Path(self.url)
            await in_thread(lambda _stop, _post: self.unpack(path, NOTHING.source))
            return None
        names = ", ".join(order.name for order in self.orders)
        title = f"Downloading {names} {self.orders[0].version}"
        try:
            with self.progress.step(title, unit="B") as step:
                step.say(f"asking {host_of(self.url)}")
                await self._brought(step)
        except _NotDeliveredError as e:
            return e.trouble
        return None

    async def _brought(self, step: Step) -> None:
        trouble = await in_thread(lambda stop, post: self._work(stop, _Shown(step, post)))
        if trouble:
            raise _NotDeliveredError(trouble)

    def _work(self, stop: Event, shown: _Shown) -> Trouble | None:
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"{filename(self.url) or 'file'}.part"
        brought = self._bring(Transfer(shown, stop), part, shown)
        if isinstance(brought, Trouble):
            return brought
        if stop.is_set():
            return None
        shown.say("unpacking")
        try:
            self.unpack(part, brought.source)
        except ArtifactError:
            discard(part)
            raise
        discard(part)
        if brought.source == NOTHING.source:
            trust.remember(self._records, self.url, brought.sha256)
            shown.post(self.progress.warn, self._unchecked(brought.sha256))
        return None

    def _bring(
        self, transfer: Transfer, part: Path, shown: _Shown, *, is_last: bool = False
    ) -> Expected | Trouble:
        """Download the file to `part`; return what it is, and who says so, or why that failed.

        What is not what it must be is fetched once more, from the start: a part from an earlier run
        may be bad, and what has no length may have been cut.
        """
        wanted = expected(self.orders[0], transfer, self._records)
        if isinstance(wanted, Trouble):
            return wanted
        if trouble := transfer.file(self.url, part):
            return trouble
        shown.say("checking")
        found = digest(part)
        if wanted.sha256 in {"", found}:
            return Expected(found, wanted.source)
        discard(part)
        if not is_last:
            return self._bring(transfer, part, shown, is_last=True)
        raise self._other(wanted, found)

    @property
    def _records(self) -> Path:
        """The folder of what came at first downloads, for all kinds of machines."""
        return self.store.root.parent / "first-downloads"

    def _other(self, wanted: Expected, found: str) -> ArtifactError:
        hint = "try again; if it happens again, a proxy or mirror may change files"
        if wanted.source == "given":
            hint = "correct what follows '@sha256:'; if that is right, a proxy or mirror may change files"
        if wanted.source == "recorded":
            place = trust.place(self._records, self.url)
            hint = f"find out why it was changed; if the new one is the right one, delete '{place}'"
        return ArtifactError(
            f"'{public(self.url)}' does not have its {wanted.source} checksum",
            hint=hint,
            detail=f"its SHA-256 is {found}, and must be {wanted.sha256}",
        )

    def _unchecked(self, found: str) -> str:
        place = trust.place(self._records, self.url)
        return (
            f"'{public(self.url)}' has no published checksum: its SHA-256 is {found}, recorded in "
            f"'{place}', and later downloads must match it; to check the first one as well, "
            f"give the address with @sha256:{found}"
        )

    def unpack(self, file: Path, checksum: str) -> None:
        """Publish what is ordered, and with an archive the other programs that are in it."""
        by_member = {order.member: order for order in self.orders}
        if "" in by_member:
            self._publish(by_member[""], file, checksum)
            return
        first, ordered = self.orders[0], {order.name for order in self.orders}
        for name in relatives(first.name):
            if name not in ordered:
                by_member.setdefault(name, replace(first, name=name, member=name))
        found = extract(file, by_member, self.folder / "members", title=public(self.url))
        if missing := next((order for order in self.orders if order.member not in found), None):
            raise ArtifactError(
                f"'{public(self.url)}' has no '{missing.member}' in it",
                hint="give the name of a file in the archive after '#'",
            )
        for member, path in found.items():
            self._publish(by_member[member], path, checksum)

    def _publish(self, order: Order, file: Path, checksum: str) -> Entry:
        with file.open("rb") as content:
            if not content.read(4).startswith((b"\x7fELF", b"#!")):
                raise ArtifactError(
                    f"'{public(self.url)}' is not a program",
                    hint="check the address; a program in an archive is given as ADDRESS#MEMBER",
                )
        return self.store.publish(
            file,
            name=order.name,
            version=order.key,
            source="download",
            origin=public(self.url),
            checksum=checksum,
        )
