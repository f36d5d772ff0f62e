"""Words and options that people try, most of them those of other tools, and what does here what they mean.

Only mistakes load this module.
"""

from collections.abc import Mapping

_COPY = "'kwokctl create cluster --name OTHER --from NAME' copies a cluster"
_CREATE = "'kwokctl create cluster'"
_DELETE = "'kwokctl delete cluster'"
_LIST = "'kwokctl get clusters'"
_CONTEXT = (
    "'kubectl config use-context kwok-NAME' chooses the cluster of kubectl, "
    "'kwokctl --name NAME' that of one command"
)
_NODES = "'kwokctl scale node --replicas N' creates nodes, 'kwokctl scale pod --replicas N' pods"
_ADD_ONS = (
    "'kwokctl addons list' shows which there are, 'kwokctl create cluster --enable NAME' runs one"
)
_SCREEN = (
    "'kwokctl view --open' shows a cluster in the browser, 'kwokctl status --watch' keeps it on the screen, 'kwokctl get components -o wide' lists "
    "the pages that components have"
)
_FAULTS = (
    "'kwokctl create cluster --stage node-chaos --stage pod-chaos' lets nodes and pods with a label "
    "fail; 'kwokctl stage sets' lists such sets"
)
_SAVE = "'kwokctl snapshot save --path FILE'"
_RESTORE = "'kwokctl snapshot restore --path FILE'"
_BACK = "'kwokctl snapshot mark', then 'kwokctl snapshot rewind' takes the cluster back"
_MARKS = "'kwokctl snapshot list' lists the marks; a saved snapshot is a file"
_NO_IMAGES = "no container of a pod is executed, so images of pods need not be loaded"
_USAGE = (
    "'kwokctl kubectl top nodes' shows usage, with 'kwokctl create cluster --enable metrics-server'"
)
_VERSION = "'kwokctl create cluster --kube-version VERSION' chooses the version of a new cluster"
_MOVE = (
    "'kwokctl snapshot save' keeps what a cluster holds, "
    "'kwokctl --name OTHER snapshot restore' puts it into another cluster"
)
_HELP = "'kwokctl help' lists the commands, and the help of one ends with examples: 'kwokctl help scale'"
_TEMPLATES = (
    "'kwokctl scale node' and 'kwokctl scale pod' bring their templates; give your own, documents of the "
    "kind KwokctlResource, with 'kwokctl create cluster --config FILE'"
)
_ONE = "one cluster at a time, which '--name NAME' chooses: 'kwokctl get clusters' lists them"
_PAGES = "'kwokctl get components -o wide' shows every component's ports"


def _each(words: str, meant: str) -> Mapping[str, str]:
    return dict.fromkeys(words.split(), meant)


_WHOLE: Mapping[str, str] = {
    "all": _ONE,
    **_each("component components etcd kube-apiserver kube-scheduler kube-controller-manager",
        "whole clusters are started and stopped; 'kwokctl start cluster' starts what does not run"
    ),
    **_each("node nodes pod pods",
        "fake nodes have nothing to start; 'kwokctl scale node --replicas N' creates or deletes "
        "them"
    ),
}  # fmt: skip

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "kwokctl": {
        **_each("addon add-ons add-on enable disable plugin plugins", _ADD_ONS),
        **_each("add", _NODES),
        **_each("init new setup quickstart bootstrap launch make deploy", _CREATE),
        **_each("demo", "'kwokctl create cluster --nodes 1000 --pods 2000 --wait'"),
        **_each("clone copy duplicate fork", _COPY),
        **_each("rename move migrate", _MOVE),
        **_each("clusters list ls profile profiles", _LIST),
        **_each("ps inspect", "'kwokctl get components -o wide'"),
        **_each("rm remove destroy teardown clean cleanup", _DELETE),
        "down": f"{_DELETE} or 'kwokctl stop cluster'",
        "up": f"{_CREATE} or 'kwokctl start cluster'",
        **_each("pause halt suspend shutdown", "'kwokctl stop cluster'"),
        **_each("resume unpause unsuspend", "'kwokctl start cluster'"),
        **_each("restart reload", "'kwokctl stop cluster', then 'kwokctl start cluster'"),
        **_each("chaos fail break inject outage", _FAULTS),
        "faults": "'kwokctl fault list' shows which there are",
        "kill": f"'kwokctl stop cluster' or {_DELETE}; {_FAULTS}",
        **_each("ui tui gui dashboard web console watch monitor", _SCREEN),
        **_each("info report summary health describe-cluster", "'kwokctl status'"),
        **_each("check diagnose troubleshoot debug-cluster preflight", "'kwokctl doctor'"),
        **_each("validate", "'kwokctl stage lint' checks Stages, 'kwokctl doctor' machine and cluster"),
        **_each("simulate play", "'kwokctl stage explain' shows what Stages would do"),
        **_each("use context contexts switch select use-context kubectx ctx", _CONTEXT),
        **_each("upgrade update downgrade", f"a cluster keeps its version; {_VERSION}"),
        **_each("versions releases", f"'kwokctl --version' is that of kwokctl; {_VERSION}"),
        "version": "'kwokctl --version'",
        **_each("example examples doc docs man tutorial usage commands", _HELP),
        **_each("template templates", _TEMPLATES),
        **_each("metric metrics", _USAGE),
        **_each("save backup dump checkpoint freeze", _SAVE),
        "import": f"{_RESTORE}, with --format k8s for objects",
        **_each("restore recover", _RESTORE),
        **_each("undo rollback revert rewinds", _BACK),
        "reset": f"{_BACK}; 'kwokctl config reset' removes kwok.yaml",
        "marks": "'kwokctl snapshot list'",
        **_each("snapshots checkpoints", _MARKS),
        **_each("twin anonymize anonymise copy-from", "'kwokctl snapshot export' writes the objects of any cluster"),
        **_each("pull download fetch", "'kwokctl artifacts pull' gets the programs of a cluster beforehand"),
        **_each("build compile", "'kwokctl artifacts build' builds the programs"),
        **_each("image images", "'kwokctl artifacts images'"),
        **_each("cache store", "'kwokctl artifacts list' shows the store, 'kwokctl artifacts prune' clears it"),
        "install": f"{_CREATE} gets all programs by itself, 'kwokctl artifacts pull' beforehand",
        "uninstall": "'kwokctl delete cluster --all', then 'kwokctl artifacts prune --all'",
        "kubeconfig": "'kwokctl get kubeconfig'",
        **_each("login ssh shell", "'kwokctl env' prints the variables that a shell needs"),
        **_each("ip url urls ports open endpoint address", _PAGES),
        "tunnel": "'kwokctl port-forward COMPONENT LOCAL:REMOTE'",
        **_each("tail log", "'kwokctl logs COMPONENT --follow'"),
        "hack": "'kwokctl etcdctl' reads and writes etcd",
        **_each("trace tracing", "'kwokctl create cluster --enable jaeger' keeps traces of requests"),
        **_each("bench benchmark load-test stress",
            "'kwokctl load run' lets objects arrive, 'kwokctl measure run' reports how fast the cluster is; "
            "'kwokctl plan' estimates what pods need"
        ),
        "estimate": "'kwokctl plan' estimates what nodes and pods need",
        **_each("autocomplete autocompletion", "'kwokctl completion' prints the script for a shell"),
        **_each("registry mount", _NO_IMAGES),
        **_each("apiserver kube-apiserver server api",
            "'kwokctl logs kube-apiserver' prints its log, 'kwokctl get components' its state"
        ),
        **_each("kube-scheduler scheduler",
            "'kwokctl logs kube-scheduler' prints its log, 'kwokctl get components' its state"
        ),
        **_each("kubelet kwok-kubelet",
            "'kwokctl logs kwok-kubelet' prints its log, 'kwokctl get components' its state"
        ),
        **_each("kwok kwok-controller",
            "'kwokctl logs kwok-controller' prints its log, 'kwokctl controller manifest' runs it "
            "in any cluster"
        ),
        **_each("profile-cluster settings options", "'kwokctl config view' prints the configuration"),
    },
    "kwokctl addons": {
        **_each("ls show get status", "'kwokctl addons list'"),
        **_each("enable disable add install remove", _ADD_ONS),
    },
    "kwokctl artifacts": {
        **_each("ls show get", "'kwokctl artifacts list'"),
        **_each("clean clear delete rm remove gc", "'kwokctl artifacts prune'"),
        **_each("download fetch", "'kwokctl artifacts pull'"),
        **_each("check", "'kwokctl artifacts verify'"),
    },
    "kwokctl config": {
        **_each("use-context set-context current-context get-contexts use", _CONTEXT),
        **_each("show print get list", "'kwokctl config view'"),
        **_each("set save edit", "'kwokctl config tidy' writes options to kwok.yaml"),
        **_each("delete clear unset", "'kwokctl config reset'"),
        "validate": "'kwokctl config schema' prints the JSON schema, with which editors check documents",
    },
    "kwokctl create": {
        **_each("node nodes pod pods", _NODES),
        **_each("fork clone copy", _COPY),
        **_each("snapshot backup", _SAVE),
        "mark": "'kwokctl snapshot mark'",
        **_each("addon addons", _ADD_ONS),
        **_each("context kubeconfig", "'kwokctl get kubeconfig'"),
    },
    "kwokctl delete": {
        "all": "'kwokctl delete cluster --all'",
        **_each("mark snapshot", "'kwokctl snapshot drop' removes a mark; a saved snapshot is a file"),
        **_each("artifacts images cache", "'kwokctl artifacts prune'"),
    },
    "kwokctl etcd": {
        **_each("list ls keys show", "'kwokctl etcd get' prints keys"),
        **_each("set write apply", "'kwokctl etcd put'"),
        **_each("del rm remove", "'kwokctl etcd delete'"),
        **_each("save backup", _SAVE),
    },
    "kwokctl export": {
        **_each("objects resources yaml cluster data", "'kwokctl snapshot export' writes the objects of any cluster"),
        **_each("snapshot etcd", _SAVE),
        **_each("kubeconfig context", "'kwokctl get kubeconfig'"),
        **_each("config", "'kwokctl config view'"),
    },
    "kwokctl get": {
        **_each("addons addon add-ons", "'kwokctl addons list'"),
        **_each("contexts context", "'kwokctl get clusters'; the context of each is kwok-NAME"),
        **_each("marks snapshots", _MARKS),
        **_each("logs log", "'kwokctl logs COMPONENT'"),
        **_each("status info", "'kwokctl status'"),
        **_each("version versions kube-version",
            "'kwokctl get clusters -o wide' shows the version of each cluster, 'kwokctl "
            "--version' that of kwokctl"
        ),
        **_each("config configuration", "'kwokctl config view'; 'kwokctl get kubeconfig'"),
        **_each("ports urls endpoints", _PAGES),
        **_each("programs binaries images", "'kwokctl get artifacts'"),
        "etcd": "'kwokctl etcd get' prints keys",
    },
    "kwokctl load": {
        **_each("docker-image image-archive image images", _NO_IMAGES),
        **_each("start apply create", "'kwokctl load run -f FILE'"),
        **_each("delete rm remove stop clean", "'kwokctl load clear' removes what loads created"),
        **_each("snapshot restore", f"{_RESTORE} restores a snapshot"),
    },
    "kwokctl snapshot": {
        **_each("create take new make",
            "'kwokctl snapshot save --path FILE', or 'kwokctl snapshot mark' in the cluster"
        ),
        "import": f"{_RESTORE} --format k8s",
        **_each("load apply", _RESTORE),
        **_each("ls show get", _MARKS),
        **_each("delete rm remove", "'kwokctl snapshot drop' removes a mark; a saved snapshot is a file"),
        **_each("undo revert rollback back reset goto", "'kwokctl snapshot rewind'"),
        **_each("play", "'kwokctl snapshot replay'"),
        **_each("fork clone", _COPY),
        **_each("start", "'kwokctl snapshot record'"),
    },
    "kwokctl stage": {
        **_each("list ls show", "'kwokctl stage sets' lists the shipped ones"),
        **_each("check validate verify", "'kwokctl stage lint'"),
        **_each("run simulate play try",
            "'kwokctl stage explain' shows what Stages would do, 'kwokctl stage test' compares it "
            "with files"
        ),
        **_each("draw dot diagram", "'kwokctl stage graph'"),
        **_each("apply add", "'kwokctl create cluster --stage FILE' adds Stages of your own"),
    },
    "kwokctl start": _WHOLE,
    "kwokctl stop": _WHOLE,
}  # fmt: skip
"""Hints by the command before a word."""

VERBS: Mapping[str, Mapping[str, str]] = {
    "cluster": {
        **_each("create new add up", _CREATE),
        **_each("delete rm remove destroy down", _DELETE),
        **_each("list ls get ps show", _LIST),
        "start": "'kwokctl start cluster'",
        "stop": "'kwokctl stop cluster'",
        "edit": _VERSION,
        "": f"{_CREATE}, {_LIST}",
    },
    "node": {
        **_each("create add new scale", "'kwokctl scale node --replicas N'"),
        **_each("delete rm remove",
            "'kwokctl scale node --replicas N' deletes the newest, 'kwokctl kubectl delete node "
            "NAME' one by its name"
        ),
        **_each("stop fail kill", _FAULTS),
        "": "'kwokctl kubectl get nodes', or 'kwokctl scale node' to create nodes",
    },
    "pod": {
        **_each("create add new scale run", "'kwokctl scale pod --replicas N'"),
        **_each("delete rm remove",
            "'kwokctl scale pod --replicas N' deletes the newest, 'kwokctl kubectl delete pod "
            "NAME' one by its name"
        ),
        "": "'kwokctl kubectl get pods', or 'kwokctl scale pod' to create pods",
    },
}  # fmt: skip
"""Hints for words that stand before their verb, by the verb; that of the empty one holds for all others."""

_NODE_SIZE = (
    "a node has what its template gives it: "
    "kwokctl scale node big --replicas N --param '.allocatable.cpu=\"64\"'"
)
_ENABLE = "use '--enable NAME'; 'kwokctl addons list' shows which there are"
_STAYS = "components run in the background in any case; '--wait' waits until they are ready"

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "": {
        "-V": "'kwokctl --version'",
        **_each("--verbose --debug", "use '-v DEBUG'"),
        **_each("--quiet -q --silent",
            "use '-v ERROR'; progress is written to standard error, results to standard output"
        ),
        **_each("--namespace", "'kwokctl kubectl --namespace NAME' is for objects in the cluster"),
        **_each("--cluster --cluster-name --profile-name", "use '--name NAME'"),
        **_each("--context --kube-context", "use '--name NAME': the context of a cluster is kwok-NAME"),
        **_each("--k8s-version --kubernetes-version --kube-version", _VERSION),
        **_each("--json", "use '-o json' with commands that have '--output'"),
        **_each("--yaml", "use '-o yaml' with commands that have '--output'"),
        **_each("--no-color --no-colour --color", "set NO_COLOR=1 for output without colours"),
    },
    "kwokctl create cluster": {
        **_each("--image --node-image --kindest-image",
            "use '--kind-node-image IMAGE' for kind's node; each component has an option of its "
            "own, such as '--kube-apiserver-image'"
        ),
        **_each("--worker --workers --agents --servers --replicas --node-count --num-nodes --nodes-count --size --number",
            "use '--nodes N'"
        ),
        **_each("--gpu --gpus --cpu --cpus --memory --disk --disk-size --node-cpu --node-memory", _NODE_SIZE),
        **_each("--addon --addons --add-on --plugins", _ENABLE),
        **_each("--driver --provider --vm-driver --backend --engine", "use '--runtime NAME'"),
        **_each("--port --api-port --apiserver-port", "use '--kube-apiserver-port PORT'"),
        **_each("--retain --keep", "use '--keep-on-failure'"),
        **_each("--no-wait -d --detach --background", _STAYS),
        **_each("--wait-for --timeout-seconds", "use '--wait DURATION', or '--timeout DURATION' for the start"),
        **_each("--force --recreate --overwrite",
            "'kwokctl delete cluster' first: a cluster that exists keeps its settings"
        ),
        **_each("--k8s-version --kubernetes-version --kube --k8s", "use '--kube-version VERSION'"),
        **_each("--stages --chaos", "use '--stage SET-OR-FILE'; 'kwokctl stage sets' lists the sets"),
        **_each("--snapshot --restore --clone --fork --copy", "use '--from CLUSTER|FILE'"),
        **_each("--template --templates", "use '--config FILE' with documents of the kind KwokctlResource"),
        **_each("--label --labels --taint --taints",
            "labels and taints are parameters of the template: 'kwokctl scale node --replicas N "
            "--param JQ'"
        ),
        **_each("--metrics", "use '--enable metrics-server'"),
        **_each("--context --kube-context", "use '--name NAME': the context is kwok-NAME"),
    },
    "kwokctl delete cluster": {
        **_each("--yes -y --assume-yes", "leave it out: it does not ask"),
        **_each("--purge", "leave it out: all data of the cluster are deleted"),
    },
    "kwokctl get clusters": {
        **_each("--all -a", "leave it out: all clusters are listed"),
    },
    "kwokctl logs": {
        **_each("--all --all-components", "'kwokctl export logs' writes every log into a folder"),
        **_each("--lines -n --last", "use '--tail N'"),
        **_each("--container", "name the component: 'kwokctl logs COMPONENT'"),
    },
    "kwokctl scale": {
        **_each("--count --number --nodes --pods --workers --agents --size --num --to", "use '--replicas N'"),
        **_each("--node --on-node --node-selector --selector", "use '--on-nodes SELECTOR'"),
        **_each("--label --labels --taint --taints --cpu --memory --gpus --set",
            "use '--param JQ', which edits the template's parameters"
        ),
        **_each("--template --file --filename", "use '--config FILE' with documents of the kind KwokctlResource"),
    },
    "kwokctl snapshot restore": {
        **_each("--file --filename --from --input", "use '--path FILE'"),
    },
    "kwokctl snapshot save": {
        **_each("--file --filename --to", "use '--path FILE'"),
    },
    "kwokctl start cluster": {
        **_each("--all", _ONE),
        **_each("--component --components", "leave it out: whatever does not run is started"),
    },
    "kwokctl status": {
        **_each("--all -a", "'kwokctl get clusters -o wide' shows all clusters"),
        **_each("--follow", "use '--watch'"),
    },
    "kwokctl stop cluster": {
        **_each("--all", _ONE),
        **_each("--component --components", "whole clusters are stopped"),
    },
}  # fmt: skip
"""Hints by the command that an option was given to; the empty one stands for every command."""
