"""`controller`: the controller of fake nodes in a cluster that kwokctl has not made."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import checked, one_of
from kwokctl.cli.parsing.shared_options import count_option, namespace_option
from kwokctl.config.checks import image as image_reference
from kwokctl.errors import UsageError
from kwokctl.json_value import Json
from kwokctl.replacing import replace

if TYPE_CHECKING:
    from kwokctl.clusters.in_cluster.sizing import Size

_EXAMPLES = {
    "manifest": (
        "kwokctl controller manifest --replicas 5 | kubectl apply -f -",
        "kwokctl controller manifest --nodes 20000 | kubectl apply -f -",
        "kwokctl controller manifest --stage pod-general --config my-stages.yaml --crds >kwok.yaml",
    )
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(
        app, "controller", "Run the controller in other clusters.", panel=commands.TOOLS
    )
    commands.command(below, "manifest", examples=_EXAMPLES["manifest"])(manifest)


def manifest(
    call: Invocation,
    *,
    replicas: Annotated[
        int | None,
        count_option("--replicas", "How many controllers share the nodes [default: 1]"),
    ] = None,
    nodes: Annotated[
        int | None,
        count_option(
            "--nodes",
            "Choose replicas and memory for a fleet of N nodes; --replicas overrides",
        ),
    ] = None,
    pods: Annotated[
        int | None,
        count_option("--pods", "How many pods that fleet has [default: ten on each node]"),
    ] = None,
    image: Annotated[
        str,
        typer.Option(
            "--image",
            metavar="IMAGE",
            help="Image of the controllers [default: that of 'make image']",
            parser=checked("--image", image_reference),
        ),
    ] = "",
    namespace: Annotated[
        str,
        namespace_option("Namespace of the controllers [default: kwok-system]"),
    ] = "kwok-system",
    stages: Annotated[
        list[str] | None,
        typer.Option(
            "--stage",
            metavar="SET,…",
            help="Set of Stages in place of the default one, as for 'create cluster'; may be "
            "repeated",
        ),
    ] = None,
    crds: Annotated[
        bool,
        typer.Option(
            "--crds",
            help="Also read Stages, the answers of kubelets, and Faults from custom resources, and install "
            "their CRDs",
        ),
    ] = False,
    kubelet_through: Annotated[
        str,
        typer.Option(
            "--kubelet-through",
            metavar="WAY",
            help="How the API server reaches kubelets, for logs and similar: service (any replica "
            "answers) or pod (the one that has made the node Ready) [default: service]",
            parser=one_of("--kubelet-through", "service", "pod"),
        ),
    ] = "service",
    api_server: Annotated[
        str,
        typer.Option(
            "--api-server",
            metavar="HOST:PORT",
            help="Address of the API server, if that of its Service cannot be reached",
        ),
    ] = "",
    steer_pods: Annotated[
        bool,
        typer.Option(
            "--steer-pods",
            help="Add a policy that places pods with the label kwok.x-k8s.io/node=fake, or in "
            "namespaces with it, on fake nodes",
        ),
    ] = False,
    steering_version: Annotated[
        str | None,
        typer.Option(
            "--steering-version",
            metavar="VERSION",
            help="API version of that policy: v1 (since Kubernetes 1.36), or v1beta1 (1.34 and "
            "1.35, where it is enabled) [default: v1]",
            parser=one_of("--steering-version", "v1", "v1beta1"),
        ),
    ] = None,
) -> None:
    """Print the objects that run the controller in any cluster, for 'kubectl apply -f -'.

    It manages the nodes with the annotation kwok.x-k8s.io/node=fake, unless a KwokConfiguration of
    --config selects others. Its rights are derived from its Stages: the default ones, those of --stage, and
    your own from --config. Stages that come later as custom resources may need more. --nodes computes replicas
    and memory from the figures of the documentation.
    """
    from kwokctl.clusters.in_cluster.config_map import (
        chosen_options,
        chosen_stages,
        has_kubelet_pods,
        kubelet_documents,
    )
    from kwokctl.clusters.in_cluster.manifest import manifest as objects
    from kwokctl.clusters.in_cluster.manifest_request import (
        IMAGE,
        NAMESPACE,
        THROUGH_SERVICE,
        ManifestRequest,
    )
    from kwokctl.config.document_kinds import CUSTOM
    from kwokctl.expr import yaml

    documents = call.documents()
    options = chosen_options(documents)
    words = [word for each in stages or () for word in each.split(",") if word.strip()]
    request = ManifestRequest(
        stages=chosen_stages(words, documents),
        documents=kubelet_documents(documents),
        options=options,
        namespace=namespace or NAMESPACE,
        size=_size(replicas, nodes, pods, options, words),
        image=image or IMAGE,
        custom_kinds=CUSTOM if crds else (),
        has_kubelet_pods=has_kubelet_pods(words),
        kubelet_through=kubelet_through or THROUGH_SERVICE,
        api_server=_address(api_server) if api_server else None,
        steering=_steering(steering_version, is_wanted=steer_pods),
    )
    results.emit(yaml.dump_all(objects(request)).rstrip("\n"))


def _steering(version: str | None, *, is_wanted: bool) -> str:
    """Return the version of the policy, empty for none; UsageError for a version of none."""
    if version and not is_wanted:
        raise UsageError("'--steering-version' needs '--steer-pods'", hint="give both, or neither")
    return (version or "v1") if is_wanted else ""


def _size(
    replicas: int | None,
    nodes: int | None,
    pods: int | None,
    options: Mapping[str, Json],
    words: Sequence[str],
) -> "Size":
    """Return the size that was given, or that of the fleet; UsageError for pods without nodes."""
    from kwokctl.clusters.in_cluster.config_map import has_kubelet_pods, lease_seconds
    from kwokctl.clusters.in_cluster.sizing import PODS_ON_NODE, USUAL, size_for

    if pods is not None and nodes is None:
        raise UsageError("'--pods' needs '--nodes'", hint="give both, or neither")
    size = USUAL
    if nodes is not None:
        size = size_for(
            nodes,
            nodes * PODS_ON_NODE if pods is None else pods,
            lease_seconds=lease_seconds(options),
            has_kubelet_pods=has_kubelet_pods(words),
        )
    return size if replicas is None else replace(size, replicas=replicas)


def _address(text: str) -> tuple[str, int]:
    """Split HOST:PORT; UsageError for anything else."""
    host, _, port = text.rpartition(":")
    if not (host and port.isdecimal() and 0 < int(port) < 65536):
        raise UsageError(f"'--api-server' is '{text}', no address", hint="write HOST:PORT")
    return host.strip("[]"), int(port)
