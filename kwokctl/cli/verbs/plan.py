"""`plan`: what a cluster of a size would need, and whether it is there."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import checked, one_of
from kwokctl.cli.parsing.shared_options import count_option, format_option
from kwokctl.config.checks import quantity
from kwokctl.config.profiles import FIELD, PROFILES, defaults
from kwokctl.replacing import replace

if TYPE_CHECKING:
    from kwokctl.clusters.capacity import CapacityPlan
    from kwokctl.config.declaring import OptionValue
    from kwokctl.config.options import ClusterOptions


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = (
        "kwokctl plan --nodes 10000 --pods 100000",
        "kwokctl plan --profile 50k",
        "kwokctl plan --nodes 5000 -o json",
    )
    commands.command(app, "plan", panel=commands.CLUSTERS, examples=examples)(plan)


def plan(
    call: Invocation,
    *,
    nodes: Annotated[
        int,
        count_option("--nodes", "Number of nodes [default: 0]", is_shown=False),
    ] = 0,
    pods: Annotated[
        int,
        count_option("--pods", "Number of pods [default: 0]", metavar="M", is_shown=False),
    ] = 0,
    node_size: Annotated[
        str,
        typer.Option(
            "--node-size",
            metavar="QUANTITY",
            help="Size of one node in etcd [default: that of the built-in template]",
            parser=checked("--node-size", quantity),
        ),
    ] = "",
    pod_size: Annotated[
        str,
        typer.Option(
            "--pod-size",
            metavar="QUANTITY",
            help="Size of one pod in etcd [default: that of the built-in template]",
            parser=checked("--pod-size", quantity),
        ),
    ] = "",
    placed: Annotated[
        bool,
        typer.Option(
            "--placed",
            help="The pods are created with a node name, as with 'scale pod --on-nodes'",
        ),
    ] = False,
    etcd_quota_backend_size: Annotated[
        str,
        typer.Option(
            "--etcd-quota-backend-size",
            metavar="QUANTITY",
            help="Size at which etcd refuses writes [default: the cluster's]",
            parser=checked("--etcd-quota-backend-size", quantity),
        ),
    ] = "",
    node_heartbeat: Annotated[
        str,
        typer.Option(
            "--node-heartbeat",
            metavar="KIND",
            help="Heartbeats of nodes: real, stretched or off [default: those of the cluster]",
            parser=one_of("--node-heartbeat", "", "real", "stretched", "off"),
        ),
    ] = "",
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            metavar="SIZE",
            help="Plan for a profile, and for its nodes and pods unless they are given: small, 1k, 10k or "
            "50k",
            parser=one_of("--profile", "", *PROFILES),
        ),
    ] = "",
    output: Annotated[
        str,
        format_option("table", "json", "yaml", usual="table"),
    ] = "table",
) -> None:
    """Estimate the etcd size and the memory that nodes and pods need.

    The options are those of the cluster if it exists, else of the one that 'create cluster' would
    make. Exits with 1 if it does not fit etcd's quota or this machine's memory. json and yaml give
    sizes in bytes.
    """
    from kwokctl.clusters import capacity
    from kwokctl.components.choose_data_path import choose_data_path
    from kwokctl.components.cluster_plan import selected
    from kwokctl.components.definitions.etcd import EtcdOptions
    from kwokctl.components.heartbeat import heartbeat
    from kwokctl.config.quantity import to_bytes
    from kwokctl.host.memory import machine_memory
    from kwokctl.model import METRICS_SERVER

    given = {
        "etcd_quota_backend_size": etcd_quota_backend_size,
        "node_heartbeat": node_heartbeat,
        FIELD: profile,
    }
    options = _cluster_options(call, {name: word for name, word in given.items() if word})
    meant = PROFILES.get(options.profile) if not (nodes or pods) else None
    fleet = capacity.Fleet(
        nodes=meant.nodes if meant else nodes,
        pods=meant.pods if meant else pods,
        node_size=to_bytes(node_size) if node_size else capacity.NODE_BYTES,
        pod_size=to_bytes(pod_size) if pod_size else capacity.POD_BYTES,
        is_placed=placed,
        is_metered=METRICS_SERVER in selected(options),
    )
    found = capacity.estimate(
        fleet,
        heartbeat=heartbeat(options),
        quota=to_bytes(options.of(EtcdOptions).quota_backend_size),
        memory=machine_memory(),
        path=choose_data_path(options).path,
    )
    if output == "table":
        _table(found)
    else:
        results.emit_data(found, output)
    capacity.demand(found)
    call.quietly(unless=output == "table").progress.note(f"it fits: {found.why}")


def _cluster_options(call: Invocation, given: "dict[str, OptionValue]") -> "ClusterOptions":
    """Return the options of the cluster that exists, or of the one that would be made, with `given`."""
    from kwokctl.clusters.state.saved import load
    from kwokctl.components.catalog import usual_options
    from kwokctl.components.choose_data_path import choose_data_path
    from kwokctl.components.cluster_plan import SELECTION, selected
    from kwokctl.components.heartbeat import settle_heartbeat
    from kwokctl.config.add_ons.enabling import resolve_with_add_ons
    from kwokctl.config.node_options import HeartbeatOptions
    from kwokctl.config.options import with_values
    from kwokctl.model import KUBE_CONTROLLER_MANAGER

    paths = call.home.paths(call.cluster)
    if not paths.saved.is_file():
        resolved = resolve_with_add_ons(
            usual_options(), given, os.environ, call.documents()
        ).resolved
        options = resolved.options
        with resolved.naming(*SELECTION):
            names = selected(options)
        return settle_heartbeat(
            options,
            resolved.chosen,
            is_fast=choose_data_path(options).path == "etcd",
            is_monitored=KUBE_CONTROLLER_MANAGER in names,
        )
    options = with_values(load(paths, call.cluster).options, {**defaults(given), **given})
    if "node_heartbeat" not in given:
        return options
    usual = replace(options, heartbeat=HeartbeatOptions(kind=options.heartbeat.kind))
    return settle_heartbeat(usual, frozenset(given), is_fast=True)


def _table(plan: "CapacityPlan") -> None:
    from kwokctl.config.quantity import to_text

    rows = [
        ("nodes", f"{plan.nodes:,}"),
        ("pods", f"{plan.pods:,}"),
        ("lease renewals per second", f"{plan.lease_writes_per_second:,.1f}"),
        ("etcd: size", f"{to_text(plan.etcd_bytes)} of {to_text(plan.etcd_quota)}"),
        ("etcd: history per hour", to_text(plan.etcd_bytes_per_hour)),
        ("memory: kube-apiserver", to_text(plan.apiserver_memory)),
        ("memory: kwok-controller", to_text(plan.controller_memory)),
        ("memory: kwok-kubelet", to_text(plan.kubelet_memory)),
        ("memory: the others", to_text(plan.others_memory)),
        ("memory: in all", f"{to_text(plan.memory)} of {to_text(plan.machine_memory)}"),
    ]
    if plan.heartbeat_processors:
        rows.append(("processor: heartbeats", f"{plan.heartbeat_processors:.2f} of one"))
    if plan.usage_round_seconds:
        rows.append(("processor: a round of usage", f"{plan.usage_round_seconds:,.1f} s"))
    results.emit_table(("WHAT", "SIZE"), rows)
