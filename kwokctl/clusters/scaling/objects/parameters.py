"""The parameters that the objects of a set were made with: a later `scale` that gives none uses them again.

The cluster itself remembers them, beside the positions of nodes: what the objects to come are made with, and which
numbers were made with something else before. So an object that is lost is made again as it was, in a mixed set too.
"""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain

import msgspec

from kwokctl.clusters.scaling.changes import Changes, Ranges
from kwokctl.clusters.scaling.objects.stored_texts import TextPage, TextStore
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.resource_templates import ResourceTemplate
from kwokctl.errors import ApiError
from kwokctl.kube.resource import Resource
from kwokctl.replacing import replace

NAME = "kwokctl-set-parameters"
"""Of the ConfigMap that remembers them."""
_PART = "_"
"""Parts names of namespaces, kinds and sets: none of them may contain it."""


class _Former(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of objects that were made with something else than the last ones."""

    template: str
    params: tuple[str, ...]
    serials: str

    def numbers(self) -> Iterator[int]:
        try:
            spans = Ranges.read(self.serials).spans
        except ValueError:
            return iter(())
        return chain.from_iterable(range(*span) for span in spans)

    def among(self, numbers: Collection[int]) -> list[int]:
        return [number for number in self.numbers() if number in numbers]

    def without(self, numbers: Collection[int | None]) -> "_Former":
        return replace(self, serials=_as_text(n for n in self.numbers() if n not in numbers))


class _Written(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parameters of a set as they are stored."""

    template: str
    params: tuple[str, ...]
    document: str = ""
    """The digest of a template of the user's own."""
    former: tuple[_Former, ...] = ()


class SetParameters:
    """The stored parameters of one set: those with which its objects were made."""

    def __init__(
        self,
        request: ScaleRequest,
        resource: Resource,
        store: TextStore | None,
        template: ResourceTemplate,
    ) -> None:
        """Remember nothing where there is no store; `template` is the one that the command names."""
        self._request = request
        self._store = store
        self._document = template.digest
        namespace = request.namespace if resource.namespaced else None
        self._key = _PART.join(filter(None, (namespace, resource.plural, request.set_name)))
        # Most sets are usual nodes and pods, or called like their shape, without parameters: nothing is stored for them.
        usual = request.kind if template.is_usual else request.set_name
        self._needless = _Written(template=usual, params=())
        self._stored: _Written | None = None

    @property
    def known(self) -> tuple[str, ...]:
        """The jq programs with which the last objects of this template were made, none if none is remembered."""
        last = self._last
        if last.template == self._request.kind:
            return last.params
        former = [each.params for each in last.former if self._is_of(each)]
        return former[-1] if former else ()

    @property
    def _last(self) -> _Written:
        return self._stored or _Written(template=self._request.kind, params=())

    @property
    def is_another_document(self) -> bool:
        """Whether the last objects were made with another template of this name."""
        stored = self._stored
        return (
            stored is not None
            and stored.template == self._request.kind
            and stored.document != self._document
        )

    def former(self, missing: Collection[int]) -> Mapping[tuple[str, ...], Sequence[int]]:
        """Return those missing objects that were made with other parameters than the last ones, by these."""
        if self._request.params:
            return {}
        found: dict[tuple[str, ...], list[int]] = {}
        for each in self._last.former:
            if self._is_of(each) and (numbers := each.among(missing)):
                found.setdefault(each.params, []).extend(numbers)
        return found

    def other_templates(self, missing: Collection[int]) -> Mapping[str, Sequence[int]]:
        """Return those missing objects that were made with another template, by its name."""
        found: dict[str, list[int]] = {}
        for each in self._last.former:
            if not self._is_of(each) and (numbers := each.among(missing)):
                found.setdefault(each.template, []).extend(numbers)
        return found

    async def recall(self) -> None:
        """Find out what is remembered; nothing where that may not be read."""
        if self._store is None:
            return
        try:
            page = await self._store.read()
        except ApiError as e:
            if e.reason != "Forbidden":
                raise
        else:
            self._read(page.texts.get(self._key) if page else None)

    async def remember(self, changes: Changes, *, is_for_kept: bool = False) -> None:
        """Keep the parameters of objects that are about to be made, or that stay when others go.

        `is_for_kept` says that the new ones are used for what stays, too: for its companions.
        """
        written = self._after(changes, is_for_kept=is_for_kept)
        if written != (self._stored or self._needless):
            is_needed = written != self._needless
            await self._put(msgspec.json.encode(written).decode() if is_needed else None)

    async def forget(self) -> None:
        """Remember nothing any more of a set that has no objects."""
        await self._put(None)

    def _after(self, changes: Changes, *, is_for_kept: bool) -> _Written:
        """Return what is to be remembered once a set has changed."""
        last, request = self._last, self._request
        if not (changes.missing or is_for_kept):
            gone = {request.serial_of(each.name) for each in changes.surplus}
            return replace(last, former=_rest(last.former, gone - {None}))
        params = request.params or self.known
        now = _Written(template=request.kind, params=params, document=self._document)
        former = last.former
        if (last.template, last.params) != (now.template, now.params):
            kept = {request.serial_of(name) for name in changes.kept} - {None}
            kept -= {number for each in former for number in each.numbers()}
            former += (_Former(template=last.template, params=last.params, serials=_as_text(kept)),)
        again = set(chain.from_iterable(self.former(changes.missing).values()))
        made = set(chain.from_iterable(each.among(changes.missing) for each in former))
        return replace(now, former=_rest(former, made - again))

    async def _put(self, text: str | None) -> None:
        if self._store is None:
            return
        while True:
            page = await self._store.read() or TextPage({})
            texts = {key: value for key, value in page.texts.items() if key != self._key}
            if text is not None:
                texts[self._key] = text
            if texts == page.texts or await self._store.write(TextPage(texts, page.version)):
                return

    def _read(self, text: str | None) -> None:
        if text is not None:
            with suppress(ValueError):
                self._stored = msgspec.json.decode(text, type=_Written)

    def _is_of(self, former: _Former) -> bool:
        return former.template == self._request.kind


def _rest(former: Iterable[_Former], numbers: Collection[int | None]) -> tuple[_Former, ...]:
    """Return what is left of former numbers without some."""
    if not numbers:
        return tuple(each for each in former if each.serials)
    left = (each.without(numbers) for each in former)
    return tuple(each for each in left if each.serials)


def _as_text(numbers: Iterable[int | None]) -> str:
    spans: list[tuple[int, int]] = []
    for number in sorted(n for n in numbers if n is not None):
        begins = spans.pop()[0] if spans and spans[-1][1] == number else number
        spans.append((begins, number + 1))
    return str(Ranges(spans))


def as_options(params: Collection[str]) -> str:
    """Return parameters as they are given on the command line."""
    return " ".join(f"--param {shlex.quote(each)}" for each in params)
