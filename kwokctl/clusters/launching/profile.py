"""Says what the profile of a new cluster sets and needs, and refuses one that does not fit."""

from collections.abc import Collection

from kwokctl.clusters import capacity
from kwokctl.components.definitions.etcd import EtcdOptions
from kwokctl.components.heartbeat import heartbeat
from kwokctl.config.data_path import Choice
from kwokctl.config.options import ClusterOptions, spellings, value_of
from kwokctl.config.profiles import PROFILES, Profile
from kwokctl.config.quantity import to_bytes
from kwokctl.errors import CapacityError
from kwokctl.host.memory import machine_memory
from kwokctl.model import METRICS_SERVER, ComponentName


def profile_notes(
    options: ClusterOptions,
    names: Collection[ComponentName],
    data_path: Choice,
    *,
    memory: int | None = None,
) -> tuple[str, ...]:
    """Return what the chosen profile comes to, a line each; nothing if none is chosen.

    `memory` is this machine's unless given. Raises CapacityError if the cluster that the profile is for
    does not fit.
    """
    profile = PROFILES.get(options.profile)
    if profile is None:
        return ()
    fleet = capacity.Fleet(
        nodes=profile.nodes, pods=profile.pods, is_metered=METRICS_SERVER in names
    )
    found = capacity.estimate(
        fleet,
        heartbeat=heartbeat(options),
        quota=to_bytes(options.of(EtcdOptions).quota_backend_size),
        memory=machine_memory() if memory is None else memory,
        path=data_path.path,
    )
    if not found.fits:
        raise CapacityError(
            f"the profile '{options.profile}' does not fit: {found.why}",
            hint="choose a smaller --profile, or none and smaller objects; 'kwokctl plan --profile "
            f"{options.profile}' shows what it needs",
        )
    size = f"{profile.nodes:,} nodes and {profile.pods:,} pods"
    busy = f"heartbeats take {found.heartbeat_processors:.2f} processors"
    return (
        f"profile {options.profile}: {_settings(options, profile)}",
        f"with {size} {found.why}; {busy}",
    )


def _settings(options: ClusterOptions, profile: Profile) -> str:
    """Write the options of a profile with the values that the cluster has."""
    by_field = {each.field: each for each in spellings(options)}
    shown = (by_field[name] for name in profile.values)
    return ", ".join(f"{each.flag.lstrip('-')} {_word(value_of(options, each))}" for each in shown)


def _word(value: object) -> object:
    return ("off", "on")[value] if isinstance(value, bool) else value
