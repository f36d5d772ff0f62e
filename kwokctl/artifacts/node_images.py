"""Lists the node images of each release of kind, as one table.

kind supports a node image with the release that it was built for, and names those in the release's
notes, by digest, since a tag may be moved to a build for another release
(https://kind.sigs.k8s.io/docs/design/node-image/).
"""

import msgspec

from kwokctl.artifacts.versions import DEFAULT_KIND_VERSION, kind_version, kube_version, minor

PREFIX = "docker.io/kindest"
"""The repository in which kind's project publishes its images."""

_PUBLISHED = {
    # https://github.com/kubernetes-sigs/kind/releases/tag/v0.33.0
    "v0.33.0": {
        "v1.37.0": "a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5",
        "v1.36.4": "099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed",
        "v1.35.8": "07b2536e30b803ed61d1677a79df6115f798ce64c80f9e22f6ed45afd09323c0",
        "v1.34.11": "44e222ee2132dab25ff87301682f89eb82c7880ea3a1bf543bfe9708fd08d67d",
    },
}
"""The SHA-256 of each node image, by the release of kind and the version of Kubernetes in it."""


class PublishedNode(msgspec.Struct, frozen=True, kw_only=True):
    """The image of a node that a registry may have."""

    image: str
    """With its digest, where that is known."""
    remark: str = ""
    """A remark for the user; empty if the image is the one that was requested."""

    @property
    def tag(self) -> str:
        """The image without its digest: its name after it was saved to a file and loaded."""
        return self.image.partition("@")[0]


def published_node(kind: str, kube: str, *, prefix: str = PREFIX, is_exact: bool) -> PublishedNode:
    """Return the node image for a release of kind and a version of Kubernetes.

    Unless the version `is_exact`, since its user named it, the release's image of the same minor
    version is taken. An image of another registry has no digest: copying it there may change that.
    """
    kind, kube = kind_version(kind), kube_version(kube)
    release = kind if kind in _PUBLISHED else DEFAULT_KIND_VERSION
    digests = _PUBLISHED[release]
    same_minor = next((each for each in digests if minor(each) == minor(kube)), kube)
    taken = kube if is_exact or kube in digests else same_minor
    image = f"{prefix.rstrip('/')}/node:{taken}"
    if taken not in digests:
        return PublishedNode(
            image=image,
            remark=f"the notes of kind {release} name node images of {', '.join(digests)}, and none "
            f"of {kube}: there may be no image '{image}', or one for another release of kind",
        )
    if prefix.rstrip("/") == PREFIX:
        image = f"{image}@sha256:{digests[taken]}"
    if kind != release:
        return PublishedNode(
            image=image,
            remark=f"kwokctl knows no node images for kind {kind}: it uses those for {release}; "
            "choose an image from the release notes with --kind-node-image",
        )
    if taken != kube:
        return PublishedNode(
            image=image,
            remark=f"the node has Kubernetes {taken}: kind {kind} has no image of {kube}",
        )
    return PublishedNode(image=image)
