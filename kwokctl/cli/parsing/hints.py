"""Guesses what a user meant by a word that is no command or option."""

from collections.abc import Iterable, Mapping

from kwokctl.config.nearest import did_you_mean

_MOVE = (
    "'kwokctl snapshot save' keeps what a cluster holds, "
    "'kwokctl --name OTHER snapshot restore' puts it into another one"
)
_MEANT: Mapping[str, Mapping[str, str]] = {
    "kwokctl": {
        "clone": _MOVE,
        "clusters": "'kwokctl get clusters'",
        "components": "'kwokctl get components'",
        "down": "'kwokctl delete cluster' or 'kwokctl stop cluster'",
        "hack": "'kwokctl etcdctl' reads and writes etcd",
        "images": "'kwokctl artifacts images'",
        "kubeconfig": "'kwokctl get kubeconfig'",
        "list": "'kwokctl get clusters'",
        "ls": "'kwokctl get clusters'",
        "open": "'kwokctl get components -o wide' shows every component's ports",
        "prune": "'kwokctl artifacts prune'",
        "ps": "'kwokctl get components -o wide'",
        "rename": _MOVE,
        "restart": "'kwokctl stop cluster', then 'kwokctl start cluster'",
        "restore": "'kwokctl snapshot restore'",
        "save": "'kwokctl snapshot save'",
        "shell": "'kwokctl env' prints the variables that a shell needs",
        "up": "'kwokctl create cluster' or 'kwokctl start cluster'",
        "version": "'kwokctl --version'",
    },
    "kwokctl create": dict.fromkeys(
        ("node", "nodes", "pod", "pods"),
        "'kwokctl scale node --replicas N' creates nodes, 'kwokctl scale pod' pods",
    ),
    "kwokctl delete": {"all": "'kwokctl delete cluster --all'"},
    "kwokctl snapshot": {
        "create": "'kwokctl snapshot save'",
        "import": "'kwokctl snapshot restore --format k8s'",
        "load": "'kwokctl snapshot restore'",
    },
}
"""Words of other tools, and of older releases of the original, by the command before them."""

_OPTIONS = {"-V": "'kwokctl --version'"}

_SHARED_VERBS = ("kwokctl get", "kwokctl create", "kwokctl delete")
"""Commands that kubectl has, too, for objects in the cluster."""

_KUBECTL = frozenset(
    [
        "annotate",
        "api-resources",
        "api-versions",
        "apply",
        "attach",
        "auth",
        "autoscale",
        "certificate",
        "cluster-info",
        "cordon",
        "cp",
        "debug",
        "describe",
        "diff",
        "drain",
        "edit",
        "events",
        "exec",
        "explain",
        "expose",
        "kustomize",
        "label",
        "patch",
        "proxy",
        "replace",
        "rollout",
        "run",
        "set",
        "taint",
        "top",
        "uncordon",
        "wait",
    ]
)
"""kubectl's commands that kwokctl has none of the name of
(https://kubernetes.io/docs/reference/kubectl/#operations)."""

_RESOURCES = frozenset(
    [
        "all",
        "bindings",
        "certificatesigningrequests",
        "csr",
        "clusterrolebindings",
        "clusterroles",
        "componentstatuses",
        "cs",
        "configmaps",
        "cm",
        "controllerrevisions",
        "cronjobs",
        "cj",
        "csidrivers",
        "csinodes",
        "csistoragecapacities",
        "customresourcedefinitions",
        "crd",
        "crds",
        "daemonsets",
        "ds",
        "deployments",
        "deploy",
        "deviceclasses",
        "endpoints",
        "ep",
        "endpointslices",
        "events",
        "ev",
        "flowschemas",
        "horizontalpodautoscalers",
        "hpa",
        "ingressclasses",
        "ingresses",
        "ing",
        "ipaddresses",
        "jobs",
        "leases",
        "limitranges",
        "limits",
        "localsubjectaccessreviews",
        "mutatingwebhookconfigurations",
        "namespaces",
        "ns",
        "networkpolicies",
        "netpol",
        "nodes",
        "no",
        "persistentvolumeclaims",
        "pvc",
        "persistentvolumes",
        "pv",
        "poddisruptionbudgets",
        "pdb",
        "pods",
        "po",
        "podtemplates",
        "priorityclasses",
        "pc",
        "prioritylevelconfigurations",
        "quota",
        "replicasets",
        "rs",
        "replicationcontrollers",
        "rc",
        "resourceclaims",
        "resourceclaimtemplates",
        "resourcequotas",
        "resourceslices",
        "rolebindings",
        "roles",
        "runtimeclasses",
        "secrets",
        "selfsubjectreviews",
        "serviceaccounts",
        "sa",
        "servicecidrs",
        "services",
        "svc",
        "statefulsets",
        "sts",
        "storageclasses",
        "sc",
        "subjectaccessreviews",
        "token",
        "tokenreviews",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "validatingwebhookconfigurations",
        "volumeattachments",
    ]
)
"""What kubectl calls the objects of a cluster
(https://kubernetes.io/docs/reference/kubectl/#resource-types)."""


def for_command(path: str, word: str, names: Iterable[str]) -> str:
    """Say what was meant by `word` behind the command `path`, or which commands there are."""
    known = list(names)
    if meant := _MEANT.get(path, {}).get(word):
        return meant
    if path in _SHARED_VERBS and is_resource(word):
        return f"'kwokctl kubectl {path.partition(' ')[2]} {word}' is for objects in the cluster"
    if path == "kwokctl" and word in _KUBECTL:
        return f"'kwokctl kubectl {word}' is for objects in the cluster"
    if path == "kwokctl" and is_resource(word):
        return f"'kwokctl kubectl get {word}', or 'kwokctl scale' to create nodes and pods"
    return did_you_mean(word, known) or f"commands are: {', '.join(known)}"


def for_option(name: str, known: Iterable[str]) -> str | None:
    """Say what was meant by an option that there is not; None if nothing is like it."""
    return _OPTIONS.get(name) or did_you_mean(name, (o for o in known if o.startswith("--")))


def is_resource(word: str) -> bool:
    """Return whether kubectl takes a word for objects: `pods`, `deploy/web`, `node,pod`, `a.example.com`."""
    kind = word.partition("/")[0].partition(",")[0].lower()
    plurals = (kind, f"{kind}s", f"{kind}es", f"{kind[:-1]}ies")
    return "." in kind or any(plural in _RESOURCES for plural in plurals)
