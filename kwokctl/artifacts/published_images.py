"""Names the container image of a program, if its project publishes one."""

from kwokctl.artifacts.programs import named

IMAGE_PROGRAMS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "metrics-server",
    "prometheus",
)
"""The programs that are published as images of their own."""

_REGISTRY = "registry.k8s.io"
_HUB = "docker.io"
_REGISTRIES = {"metrics-server": f"{_REGISTRY}/metrics-server", "prometheus": f"{_HUB}/prom"}
_FIRST_REVISED_ETCD = (3, 3, 17)
"""From this release on a tag ends with the revision of the image, which begins at 0."""


def published(name: str, version: str, prefix: str = "") -> str:
    """Return the reference of a program's image: `registry.k8s.io/etcd:3.6.16-0`.

    `prefix` takes the place of the project's registry. Raises ArtifactError for a program that we
    do not know, UsageError for an invalid version.
    """
    group = named(name).group
    tag = group.canonical(version).replace("+", "_")
    if name == "etcd" and "-" not in tag and _numbers(tag) >= _FIRST_REVISED_ETCD:
        tag += "-0"
    return f"{(prefix or _REGISTRIES.get(name, _REGISTRY)).rstrip('/')}/{name}:{tag}"


def registry_of(image: str) -> str:
    """Return the host that an image is pulled from; without one it is Docker's."""
    first, slash, _ = image.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else _HUB


def _numbers(tag: str) -> tuple[int, ...]:
    return tuple(int(part) for part in tag.partition("_")[0].split("."))
