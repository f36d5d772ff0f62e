"""Names every folder and file of kwokctl, each once."""

import hashlib
import os
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from kwokctl.errors import UnavailableError
from kwokctl.host.platforms import user_id
from kwokctl.host.socket_folder import socket_folder
from kwokctl.model import ClusterName, ComponentName


def home_folder() -> Path | None:
    """Return the user's home folder; None without `HOME` and an entry in the user database."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def expanded(path: str) -> Path:
    """Return a path that a user gave, with the home folder in place of a leading `~`."""
    try:
        return Path(path).expanduser()
    except RuntimeError as e:
        raise UnavailableError(
            f"'{path}' is in a home folder, and there is none",
            hint="set HOME, or give an absolute path",
        ) from e


def default_workdir() -> Path:
    """Return `$KWOK_WORKDIR`, else `~/.kwok`.

    There is no third place: a folder for temporary files may be another user's.
    """
    if chosen := os.environ.get("KWOK_WORKDIR"):
        return expanded(chosen).absolute()
    if home := home_folder():
        return home / ".kwok"
    raise UnavailableError(
        f"there is no home folder for clusters: HOME is not set, and user {user_id()} has no entry "
        "in the user database",
        hint="set HOME, or KWOK_WORKDIR to a folder that only you can write to",
    )


def cache_dir() -> Path:
    """Return the user's cache folder for kwokctl, shared by all clusters.

    Without a home folder it lies in the work folder.
    """
    try:
        return user_cache_path("kwokctl")
    except RuntimeError:
        return default_workdir() / "cache"


class ClusterPaths(msgspec.Struct, frozen=True):
    """The files of one cluster."""

    root: Path

    @property
    def saved(self) -> Path:
        """The full resolved state; the cluster exists when this file does."""
        return self.root / "kwok.yaml"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, for use on this host."""
        return self.root / "kubeconfig.yaml"

    def component_kubeconfig(self, name: ComponentName) -> Path:
        """Return the kubeconfig that carries a component's own identity."""
        return self.root / "kubeconfigs" / f"{name}.yaml"

    def add_on(self, name: ComponentName) -> Path:
        """Return the folder with the files of a component of an add-on."""
        return self.root / "add-ons" / name

    def add_on_manifests(self, name: ComponentName) -> Path:
        """Return the objects that such a component needs, as its module has them."""
        return self.root / "add-ons" / f"{name}.yaml"

    def webhook_certificates(self, name: ComponentName) -> Path:
        """Return the folder with the certificate of such a component that serves webhooks."""
        return self.add_on(name) / "certificates"

    @property
    def context_files(self) -> Path:
        """The names of the user's kubeconfigs that have its context, one a line."""
        return self.root / "context-files"

    @property
    def audit_policy(self) -> Path:
        """The cluster's copy of the audit policy, if it has one."""
        return self.root / "audit.yaml"

    @property
    def scheduler_config(self) -> Path:
        """The scheduler's configuration, if the user has given one, with this cluster's paths."""
        return self.root / "scheduler.yaml"

    @property
    def insecure_kubeconfig(self) -> Path:
        """The kubeconfig for the port that asks for no credentials, if the cluster has one."""
        return self.root / "kubeconfig-insecure.yaml"

    @property
    def egress(self) -> Path:
        """The file with the API server's settings for connections to nodes, if it does not make them by itself."""
        return self.root / "egress.json"

    @property
    def tracing(self) -> Path:
        """The file with the API server's settings for spans, if it sends any."""
        return self.root / "tracing.json"

    @property
    def own_kubeconfig(self) -> Path:
        """The kubeconfig with which kwokctl itself works in bulk: a token, no certificate."""
        return self.root / "kubeconfigs" / "kwokctl.yaml"

    @property
    def tokens(self) -> Path:
        """The tokens of the components, as the API server reads them."""
        return self.pki / "tokens.csv"

    @property
    def controller_token(self) -> Path:
        """The token that the running controller asks for; it makes a new one at each start."""
        return self.root / "kwok-controller.token"

    @property
    def pki(self) -> Path:
        """Certificates and keys."""
        return self.root / "pki"

    @property
    def etcd_data(self) -> Path:
        """The data directory of etcd."""
        return self.root / "etcd"

    @property
    def etcd_restored(self) -> Path:
        """A data directory made from a snapshot, before it takes its place."""
        return self.root / "etcd-restored"

    @property
    def etcd_before_restore(self) -> Path:
        """The data directory that a restored one has replaced, until that has shown to work."""
        return self.root / "etcd-before-restore"

    @property
    def half_copy(self) -> Path:
        """A mark that is there while the cluster is made from the data of another."""
        return self.root / "half-copy"

    @property
    def marks(self) -> Path:
        """The marks of the cluster."""
        return self.root / "marks"

    @property
    def prometheus_data(self) -> Path:
        """The data of Prometheus."""
        return self.root / "prometheus"

    @property
    def prometheus_config(self) -> Path:
        """The configuration of Prometheus."""
        return self.root / "prometheus.yaml"

    @property
    def prometheus_web(self) -> Path:
        """Whom Prometheus answers."""
        return self.root / "prometheus-web.yaml"

    @property
    def dashboard(self) -> Path:
        """Shows in Grafana what Prometheus has measured."""
        return self.root / "grafana-dashboard.json"

    @property
    def fleet_dashboard(self) -> Path:
        """Shows the GPUs of the fleet in Grafana, by rack."""
        return self.root / "grafana-fleet-dashboard.json"

    @property
    def logs(self) -> Path:
        """One log file a component, with its older parts."""
        return self.root / "logs"

    def log(self, name: ComponentName) -> Path:
        """Return the log file of a component."""
        return self.logs / f"{name}.log"

    @property
    def exported(self) -> Path:
        """The default folder of `export logs`."""
        return self.root / "export" / "logs"

    @property
    def pids(self) -> Path:
        """One pid file a component (binary runtime)."""
        return self.root / "pids"

    @property
    def launch(self) -> Path:
        """The file with the command of each component (binary runtime)."""
        return self.root / "launch"

    @property
    def stopped(self) -> Path:
        """A file that is there from a 'stop cluster' until components are started again."""
        return self.root / "stopped"

    @property
    def sockets(self) -> Path:
        """The folder of unix sockets; only its owner may enter it."""
        return socket_folder(self.root, self.sockets_note)

    @property
    def sockets_note(self) -> Path:
        """The file that says where the sockets are, if that is elsewhere."""
        return self.root / "sockets"

    @property
    def etcd_socket(self) -> Path:
        """The unix socket that etcd serves."""
        return self.sockets / "etcd.sock"

    @property
    def marks_socket(self) -> Path:
        """The unix socket at which other programs have the cluster marked and rewound."""
        return self.sockets / "marks.sock"

    @property
    def egress_socket(self) -> Path:
        """The unix socket at which the kubelet server makes connections for the API server."""
        return self.sockets / "egress.sock"


class WorkDir(msgspec.Struct, frozen=True):
    """The folder that holds all clusters, as `KWOK_WORKDIR` names it."""

    root: Path

    @property
    def clusters(self) -> Path:
        """One folder a cluster."""
        return self.root / "clusters"

    @property
    def locks(self) -> Path:
        """Lock files; they outlive what they lock."""
        return self.root / "locks"

    @property
    def failed(self) -> Path:
        """Logs of components that have ended while a cluster was created: all that is left of it."""
        return self.root / "failed"

    @property
    def measurements(self) -> Path:
        """Records of runs that were measured."""
        return self.root / "measurements"

    def failed_log(self, cluster: ClusterName, component: str) -> Path:
        """Return where such a log is kept until the cluster is created again, or deleted."""
        return self.failed / f"{cluster}.{component}.log"

    def cluster(self, name: ClusterName) -> ClusterPaths:
        """Return the files of the cluster called `name`."""
        return ClusterPaths(self.clusters / name)

    def cluster_lock(self, name: ClusterName) -> Path:
        """Return the lock under which a cluster is changed."""
        return self.locks / f"cluster-{name}.lock"

    def start_lock(self, name: ClusterName) -> Path:
        """Return the lock under which what does not run of a cluster is started."""
        return self.locks / f"start-{name}.lock"

    def marks_lock(self, name: ClusterName) -> Path:
        """Return the lock under which marks of a cluster are made and removed."""
        return self.locks / f"marks-{name}.lock"

    def recording_lock(self, name: ClusterName) -> Path:
        """Return the lock under which a recording in the background is started."""
        return self.locks / f"recording-{name}.lock"

    def set_lock(self, identity: str) -> Path:
        """Return the lock under which one set of objects of a cluster is scaled."""
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        return self.locks / f"set-{digest}.lock"
