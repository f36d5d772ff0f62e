"""Writes the chart `charts/kwok` from the objects of `kwokctl controller manifest`.

So the chart and the manifest have one source.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from kwokctl import __version__
from kwokctl.clusters.in_cluster.accounts import cluster_rights, rules
from kwokctl.clusters.in_cluster.config_map import (
    FILE,
    LEASE_SECONDS,
    chosen_stages,
    has_kubelet_pods,
    settings,
)
from kwokctl.clusters.in_cluster.manifest import manifest
from kwokctl.clusters.in_cluster.manifest_request import IMAGE, NAME, ManifestRequest
from kwokctl.clusters.in_cluster.sizing import Size
from kwokctl.clusters.in_cluster.steering import steering
from kwokctl.clusters.in_cluster.workload import VARIABLES
from kwokctl.components.heartbeat import usual_heartbeat
from kwokctl.components.stage_sets import KUBELET_PODS, documents_of, sets_in_force, shipped_sets
from kwokctl.config.document_kinds import CUSTOM
from kwokctl.expr import yaml
from kwokctl.json_value import Json

CHART = Path(__file__).parents[1] / "charts" / "kwok"
_HELPERS = Path(__file__).parent / "chart" / "_helpers.tpl"
_WRITTEN = "# Written by docs/generate_chart.py; `make docs` writes it again.\n"
_REPLICAS = 987654321
_CHOSEN = ("affinity", "nodeSelector", "tolerations", "imagePullSecrets")
"""Fields of the pod's specification that are values of the same name."""
_ADDED = (("env", 8), ("volumeMounts", 8), ("volumes", 6))
"""Lists that values of the same name add to, and how far they are indented."""


def _each(name: str, indent: str) -> str:
    """Return the lines that add what a value lists; of variables not those that the chart sets."""
    item = f"{indent}- {{{{ toJson . }}}}\n"
    if name == "env":
        own = " ".join(f'"{each}"' for each in VARIABLES)
        item = f"{indent}{{{{- if not (has .name (list {own})) }}}}\n{item}{indent}{{{{- end }}}}\n"
    return f"{indent}{{{{- range .Values.{name} }}}}\n{item}{indent}{{{{- end }}}}\n"


_PLACES: Mapping[str, str] = {
    str(_REPLICAS): "{{ .Values.replicas }}",
    "PLACE-OF-NAMESPACE": "{{ .Release.Namespace }}",
    "PLACE-OF-IMAGE": '"{{ .Values.image.repository }}:{{ .Values.image.tag }}"',
    "PLACE-OF-RESOURCES": "{{ toJson .Values.resources }}",
    "PLACE-OF-POD-SECURITY": "{{ toJson .Values.podSecurityContext }}",
    "PLACE-OF-SECURITY": "{{ toJson .Values.securityContext }}",
    "PLACE-OF-NODE-IP": '--node-ip=$({{ include "kwok.address" . }})',
    "PLACE-OF-STEERING": '{{ include "kwok.steering" . }}',
    "PLACE-OF-DIGEST": 'sha256-{{ include "kwok.configuration" . | sha256sum | trunc 12 }}',
    NAME: '{{ include "kwok.name" . }}',
}
"""The texts in the objects, with their replacements in the chart."""
_LINES: Mapping[str, str] = {
    "      PLACE-OF-CHOSEN: ''\n": "".join(
        f"      {{{{- with .Values.{name} }}}}\n      {name}: {{{{ toJson . }}}}\n      {{{{- end }}}}\n"
        for name in (*_CHOSEN, "hostNetwork")
    ),
    **{f"{' ' * indent}- PLACE-OF-{name}\n": _each(name, " " * indent) for name, indent in _ADDED},
    "        imagePullPolicy: PLACE-OF-POLICY\n": """\
        {{- with .Values.image.pullPolicy }}
        imagePullPolicy: {{ . }}
        {{- end }}
""",
    "        - PLACE-OF-PODS\n": f"""\
        {{{{- if has "{KUBELET_PODS}" .Values.stages }}}}
        - --pods=kubelet
        {{{{- end }}}}
""",
    "        - PLACE-OF-API-SERVER\n": """\
        {{- if .Values.apiServer.host }}
        - name: KUBERNETES_SERVICE_HOST
          value: {{ .Values.apiServer.host | quote }}
        - name: KUBERNETES_SERVICE_PORT
          value: {{ .Values.apiServer.port | quote }}
        {{- end }}
""",
}
"""Lines of the objects, and the lines that take their place."""
_CONFIGURATION = f"""\
data:
  {FILE}: |
{{{{ include "kwok.configuration" . | indent 4 }}}}
"""


def request(*sets: str) -> ManifestRequest:
    """Return the controller of the chart, with marks for what users choose."""
    return ManifestRequest(
        stages=chosen_stages(sets, ()),
        custom_kinds=CUSTOM,
        namespace="PLACE-OF-NAMESPACE",
        size=Size(replicas=_REPLICAS),
        image="PLACE-OF-IMAGE",
        has_kubelet_pods=has_kubelet_pods(sets),
    )


def pages() -> Mapping[Path, str]:
    """Return the text of each file."""
    found = list(manifest(request()))
    definitions = [each for each in found if each["kind"] == "CustomResourceDefinition"]
    # Helm makes the namespace, and applies definitions before all else from a folder of their own.
    objects = [each for each in found if each not in definitions and each["kind"] != "Namespace"]
    values = _values(_pod(objects))
    steered = yaml.dump_all(list(steering("PLACE-OF-STEERING"))).rstrip("\n")
    return {
        CHART / "Chart.yaml": _WRITTEN + yaml.dump(_description()),
        CHART / "values.yaml": _WRITTEN + yaml.dump(values),
        CHART / "crds" / "crds.yaml": _WRITTEN + yaml.dump_all(definitions),
        CHART / "files" / FILE: _options(),
        CHART / "files" / "sets.yaml": _WRITTEN + yaml.dump({"sets": list(_sets())}),
        **{CHART / "files" / "stages" / f"{name}.yaml": text for name, text in _stages()},
        CHART / "templates" / "_helpers.tpl": _HELPERS.read_text(encoding="utf-8"),
        CHART / "templates" / "controller.yaml": _WRITTEN + "---\n".join(_templates(objects)),
        CHART / "templates" / "steering.yaml": f"{_WRITTEN}{{{{- if .Values.steerPods }}}}\n"
        f"{_placed(steered)}\n{{{{- end }}}}\n",
    }


def _description() -> Json:
    return {
        "apiVersion": "v2",
        "name": "kwok",
        "description": "Plays the kubelets of fake nodes",
        "type": "application",
        "version": __version__,
        "appVersion": __version__,
    }


def _values(pod: Mapping[str, Json]) -> Json:
    """Return the default values: with them the chart is the manifest."""
    repository, _, tag = IMAGE.rpartition(":")
    [container] = pod["containers"]
    return {
        "replicas": 1,
        "image": {"repository": repository, "tag": tag, "pullPolicy": ""},
        "imagePullSecrets": [],
        "nameOverride": "",
        "fullnameOverride": NAME,
        "stages": [],
        "steerPods": False,
        "kubeletThrough": "service",
        "apiServer": {"host": "", "port": 443},
        "podSecurityContext": pod["securityContext"],
        "securityContext": container["securityContext"],
        "nodeSelector": {},
        "affinity": pod["affinity"],
        "tolerations": [],
        "resources": container["resources"],
        "hostNetwork": False,
        **{name: [] for name, _ in _ADDED},
        "enableDeployment": True,
    }


def _pod(objects: list[Mapping[str, Json]]) -> dict[str, Json]:
    [deployment] = [each for each in objects if each["kind"] == "Deployment"]
    specification: dict[str, Json] = deployment["spec"]["template"]["spec"]
    return specification


def _options() -> str:
    """Return the configuration without Stages, whose sets are files of their own."""
    found = settings(ManifestRequest(stages=(), custom_kinds=CUSTOM))
    return str(found["data"][FILE])


def _sets() -> Iterator[Json]:
    """Yield what a template must know of each set; rights only beyond those of the default sets."""
    usual = {each.name for each in sets_in_force((), usual_heartbeat(LEASE_SECONDS))}
    given = cluster_rights(request())
    for each in shipped_sets().values():
        more = cluster_rights(request(each.name)) - given
        described = {"name": each.name, "part": each.part, "usual": each.name in usual}
        yield {**described, **({"rules": rules(more)} if more else {})}


def _stages() -> Iterator[tuple[str, str]]:
    beat = usual_heartbeat(LEASE_SECONDS)
    for each in shipped_sets().values():
        documents = documents_of([each], (), beat)
        yield each.name, "".join(f"---\n{yaml.dump(body)}" for body in documents)


def _templates(objects: list[Mapping[str, Json]]) -> Iterator[str]:
    """Yield the objects as Helm reads them; Stages hold templates of their own, so are no part."""
    _mark(objects)
    for each in objects:
        text = _placed(yaml.dump({key: value for key, value in each.items() if key != "data"}))
        if each["kind"] == "ConfigMap":
            text += _CONFIGURATION
        if each["kind"] == "ClusterRole":
            text = text.rstrip("\n") + '\n{{- include "kwok.rules" . }}\n'
        if each["kind"] == "Deployment":
            text = f"{{{{- if .Values.enableDeployment }}}}\n{text}{{{{- end }}}}\n"
        yield text


def _mark(objects: list[Mapping[str, Json]]) -> None:
    """Mark in the Deployment what users choose."""
    [deployment] = [each for each in objects if each["kind"] == "Deployment"]
    template = deployment["spec"]["template"]
    template["metadata"]["annotations"] = {"kwokctl.dev/configuration": "PLACE-OF-DIGEST"}
    pod = template["spec"]
    del pod["affinity"]
    pod |= {"PLACE-OF-CHOSEN": "", "securityContext": "PLACE-OF-POD-SECURITY"}
    [container] = pod["containers"]
    container["args"] = [*map(_argument, container["args"]), "PLACE-OF-PODS"]
    container["env"] += ["PLACE-OF-API-SERVER", "PLACE-OF-env"]
    container["volumeMounts"].append("PLACE-OF-volumeMounts")
    pod["volumes"].append("PLACE-OF-volumes")
    container |= {
        "imagePullPolicy": "PLACE-OF-POLICY",
        "resources": "PLACE-OF-RESOURCES",
        "securityContext": "PLACE-OF-SECURITY",
    }


def _argument(text: str) -> str:
    return "PLACE-OF-NODE-IP" if text.startswith("--node-ip=") else text


def _placed(text: str) -> str:
    for mark, template in (*_LINES.items(), *_PLACES.items()):
        text = text.replace(mark, template)
    return text
