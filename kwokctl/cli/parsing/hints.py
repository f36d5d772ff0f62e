"""Guesses what a user meant by a word that is no command or option."""

from collections.abc import Iterable, Sequence

from kwokctl.config.nearest import did_you_mean

_SHORTEST = 3
"""Letters with which a name has to begin to be recognised by them."""
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
"""kubectl's names for the objects of a cluster
(https://kubernetes.io/docs/reference/kubectl/#resource-types)."""


def for_command(
    path: str,
    word: str,
    names: Iterable[str],
    *,
    following: str = "",
    elsewhere: Sequence[str] = (),
) -> str:
    """Say what was meant by `word` behind the command `path`, or which commands there are.

    `following` is the word after it, `elsewhere` the commands that have this word for their name.
    """
    from kwokctl.cli.parsing import intents  # only for words that are wrong

    known = list(names)
    word = word.lower()
    if meant := intents.COMMANDS.get(path, {}).get(word):
        return meant
    if path == "kwokctl" and (verbs := intents.VERBS.get(word.removesuffix("s"))):
        return verbs.get(following.lower(), verbs[""])
    if path in _SHARED_VERBS and is_resource(word):
        return _of_kubectl(f"{path.partition(' ')[2]} {word}")
    named = [f"'{command}'" for command in elsewhere]
    if path == "kwokctl" and word in _KUBECTL:
        return "; ".join([_of_kubectl(word), *named])
    if path == "kwokctl" and is_resource(word):
        return f"'kwokctl kubectl get {word}', or 'kwokctl scale' to create nodes and pods"
    of_its_name, near = " or ".join(named), _near(word, known)
    guesses = (of_its_name, near) if path == "kwokctl" else (near, of_its_name)
    return next(filter(None, guesses), f"commands are: {', '.join(known)}")


def _near(word: str, known: Sequence[str]) -> str | None:
    """Ask whether the only name that begins with a word was meant, or else the one nearest to it."""
    begun = [name for name in known if len(word) >= _SHORTEST and name.startswith(word)]
    if len(begun) == 1:
        return f"did you mean '{begun[0]}'?"
    return did_you_mean(word, known)


def _of_kubectl(words: str) -> str:
    return f"for objects in the cluster: 'kwokctl kubectl {words}'"


def for_option(command: str, name: str, known: Iterable[str]) -> str | None:
    """Say what was meant by an option that `command` does not have; None if nothing is like it."""
    from kwokctl.cli.parsing import intents  # only for options that are wrong

    for place in (command, ""):
        if meant := intents.OPTIONS.get(place, {}).get(name):
            return meant
    return did_you_mean(name, (o for o in known if o.startswith("--")))


def is_resource(word: str) -> bool:
    """Return whether kubectl takes a word for objects: `pods`, `deploy/web`, `node,pod`, `a.example.com`."""
    kind = word.partition("/")[0].partition(",")[0].lower()
    plurals = (kind, f"{kind}s", f"{kind}es", f"{kind[:-1]}ies")
    return "." in kind or any(plural in _RESOURCES for plural in plurals)
