"""Foresees which programs and images a cluster gets, and writes as steps how those come here."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

import msgspec

from kwokctl.artifacts.locations import Order, is_url, local_artifact, place
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import ArtifactSource, not_stored, store_of
from kwokctl.clusters.dry_run.plumbing import kwokctl
from kwokctl.clusters.programs.images import ImageChoice, image_choices
from kwokctl.clusters.programs.needed import (
    embedded,
    prefixes,
    refuse_given,
    source_of,
    version_of,
    wanted_program,
)
from kwokctl.clusters.state.home import Home
from kwokctl.config.options import ClusterOptions
from kwokctl.images import Images
from kwokctl.model import Artifact
from kwokctl.runtime import BringsKubernetes, RunsImages, Runtime
from kwokctl.script.steps import Action, Call, Command, Comment, ShellFunction, later

_FETCH = ShellFunction(
    "fetch",
    """\
# Downloads the file of an address to the folder $fetched, and compares it with a sum: the one given
# ($2), or that of the first of the further addresses that publishes one.
fetch() {
  fetched=$(mktemp -d)
  name=${1##*/} url=$1 sum=$2
  file=$fetched/$name
  shift 2
  curl --fail --location --output "$file" "$url"
  for sums in "$@"; do
    [ -z "$sum" ] || break
    sum=$(curl --fail --silent --location "$sums" |
      awk -v file="$name" 'NF == 1 || $NF == file || $NF == "*" file { print $1; exit }')
  done
  if [ -n "$sum" ]; then
    echo "$sum  $file" | sha256sum --check --quiet -
  else
    echo "no checksum is published for $url: it is not checked" >&2
  fi
}""",
)


class Foreseen(msgspec.Struct, frozen=True, kw_only=True):
    """The programs of a cluster, and how those that are missing come here."""

    artifacts: Mapping[str, Artifact]
    steps: tuple[Action, ...] = ()


async def foreseen(
    home: Home,
    runtime: Runtime,
    options: ClusterOptions,
    names: Sequence[str],
    settled: Mapping[str, Artifact] | None = None,
) -> Foreseen:
    """Return what `artifacts` would find or get, without getting it.

    An image that the engine has comes first, then a program of the store, then what is published.
    """
    brought: dict[str, Artifact] = {}
    if isinstance(runtime, BringsKubernetes):
        refuse_given(runtime, options, names)
        brought = {
            name: (settled or {}).get(name)
            or Artifact(name=name, version=version_of(options, name))
            for name in names
            if name in runtime.brings
        }
        names = [runtime.maker, *(name for name in names if name not in brought)]
    by_image = await _images(home, runtime, options, names, settled or {})
    rest = [name for name in names if name not in by_image.artifacts]
    programs = foreseen_programs(home, options, rest)
    return Foreseen(
        artifacts={**brought, **by_image.artifacts, **programs.artifacts},
        steps=(*by_image.steps, *programs.steps),
    )


def foreseen_programs(home: Home, options: ClusterOptions, names: Sequence[str]) -> Foreseen:
    """Return the named programs, each where it is or will be; ArtifactError as for the command."""
    store = store_of(home.cache, here())
    found = {name: own for name in names if (own := embedded(options, name))}
    missing: list[Order] = []
    for name in (each for each in names if each not in found):
        placed = place(wanted_program(options, name), here(), prefixes(options))
        if not isinstance(placed, Order):
            found[name] = local_artifact(placed)
            continue
        command = (str(store.path(name, placed.key)),)
        found[name] = Artifact(name=name, version=placed.version, command=command)
        if not store.seen(name, placed.key):
            missing.append(placed)
    return Foreseen(artifacts=found, steps=tuple(_fetching(options, missing)))


async def _images(
    home: Home,
    runtime: Runtime,
    options: ClusterOptions,
    names: Sequence[str],
    settled: Mapping[str, Artifact],
) -> Foreseen:
    if not isinstance(runtime, RunsImages):
        return Foreseen(artifacts={})
    found: dict[str, Artifact] = {}
    steps: list[Action] = []
    for choice in image_choices(options, names):
        before = settled.get(choice.name)
        if before and before.image and await runtime.images.has(before.image):
            found[choice.name] = before
        elif await _is_pulled(home, runtime.images, options, choice):
            found[choice.name] = choice.artifact
            steps.append(_pull(runtime.images.tool, choice.image))
    return Foreseen(artifacts=found, steps=tuple(steps))


async def _is_pulled(
    home: Home, images: Images, options: ClusterOptions, choice: ImageChoice
) -> bool:
    """Return whether a component comes as its published image."""
    if choice.is_given or await images.has(choice.image):
        return True
    source = source_of(options.programs.source)
    if source is ArtifactSource.OFFLINE:
        return False
    order = place(wanted_program(options, choice.name), here(), prefixes(options))
    stored = isinstance(order, Order) and store_of(home.cache, here()).seen(order.name, order.key)
    return source is ArtifactSource.DOWNLOAD or not stored


def _pull(tool: str, image: str) -> Command:
    return Command((tool, "pull", image), unless=(tool, "image", "inspect", image))


def _fetching(options: ClusterOptions, missing: Sequence[Order]) -> Iterator[Action]:
    """Yield how programs come into the store: downloaded, or built where that was chosen."""
    source = source_of(options.programs.source)
    if missing and source is ArtifactSource.OFFLINE:
        raise not_stored(missing)
    building = source is ArtifactSource.BUILD
    if building and any(order.official for order in missing):
        yield Comment("Build what is not in the store from its Go modules.")
        yield kwokctl(None, "artifacts", "build", "--kube-version", options.kube_version)
    rest = [order for order in missing if not (building and order.official)]
    for url, same in groupby(sorted(rest, key=attrgetter("url")), attrgetter("url")):
        yield from _downloading(url, list(same))


def _downloading(url: str, orders: Sequence[Order]) -> Iterator[Action]:
    file = url
    if is_url(url):
        file = later("file")
        yield Comment(f"Download {', '.join(order.name for order in orders)} {orders[0].version}.")
        known = orders[0].sha256 or orders[0].pinned
        yield Call(_FETCH, (url, known, *orders[0].sums))
    for order in orders:
        yield kwokctl(None, "plumbing", "store", order.name, order.key, file, url, order.member)
    if is_url(url):
        yield Command(("rm", "-rf", later("fetched")))
