"""The scheduler's own configuration: a user's file, with what is this cluster's filled in."""

from collections.abc import Mapping
from pathlib import Path

from kwokctl.components.definitions.kube_scheduler import KubeSchedulerOptions
from kwokctl.components.setting import Setting
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.host.files import write_atomic
from kwokctl.json_value import Json
from kwokctl.model import KUBE_SCHEDULER

_KIND, _API_VERSION = "KubeSchedulerConfiguration", "kubescheduler.config.k8s.io/v1"
_QUICK = {"qps": 5000, "burst": 10000}
_FILES = ("caFile", "certFile", "keyFile")
"""Paths of an extender's `tlsConfig`."""


def check_scheduler_config(options: ClusterOptions) -> None:
    """Raise ConfigError unless the file that options name is a configuration of the scheduler."""
    if given := options.of(KubeSchedulerOptions).config:
        _read(Path(given))


def write_scheduler_config(setting: Setting) -> None:
    """Write the cluster's copy, once: the user's file may have moved by the next start."""
    given = setting.options.of(KubeSchedulerOptions).config
    target = setting.paths.scheduler_config
    if given and not target.exists():
        write_atomic(target, yaml.dump(_filled(_read(Path(given)), Path(given).parent, setting)))


def _read(path: Path) -> dict[str, Json]:
    try:
        body = yaml.load(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise ConfigError(f"the scheduler's configuration '{path}' cannot be read: {e}") from e
    except ConfigError as e:
        raise ConfigError(f"'{path}' is not valid YAML: {e}", hint=e.hint) from e
    if not isinstance(body, dict) or body.get("kind") != _KIND:
        raise ConfigError(f"'{path}' is not a {_KIND}")
    if body.get("apiVersion") != _API_VERSION:
        raise ConfigError(
            f"'{path}': apiVersion is '{body.get('apiVersion')}', not '{_API_VERSION}'",
            hint="write the file for the version of the scheduler that the cluster runs",
        )
    return body


def _filled(body: dict[str, Json], folder: Path, setting: Setting) -> dict[str, Json]:
    """Fill in how this cluster's API server is reached; there is one scheduler, so no election."""
    is_quick = setting.options.arguments.disable_qps_limits
    connection = {**(_QUICK if is_quick else {}), **(body.get("clientConnection") or {})}
    return {
        **body,
        "clientConnection": {**connection, "kubeconfig": setting.kubeconfig(KUBE_SCHEDULER)},
        "leaderElection": {**(body.get("leaderElection") or {}), "leaderElect": False},
        **(
            {"extenders": [_extender(each, folder) for each in body["extenders"]]}
            if body.get("extenders")
            else {}
        ),
    }


def _extender(extender: Mapping[str, Json], folder: Path) -> Json:
    """Make the paths of an extender's files absolute: the scheduler runs in another folder."""
    files = extender.get("tlsConfig")
    if not isinstance(files, Mapping):
        return extender
    return {
        **extender,
        "tlsConfig": {
            key: str((folder / value).absolute()) if key in _FILES and value else value
            for key, value in files.items()
        },
    }
