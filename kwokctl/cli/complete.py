"""What the shell offers when a word is completed; cheap, and silent when something is wrong."""

from kwokctl.host.paths import WorkDir, default_workdir

COMPONENTS = ("audit", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok-controller")  # fmt: skip


def clusters() -> list[str]:
    """List the clusters on disk."""
    folder = WorkDir(default_workdir()).clusters
    return sorted(file.parent.name for file in folder.glob("*/kwok.yaml"))


def components() -> list[str]:
    """List what `logs` can show."""
    return list(COMPONENTS)


def kinds() -> list[str]:
    """List what `scale` can scale without a template of the user's."""
    return ["node", "pod"]
