"""Writes the chart `charts/kwok` from the objects of `kwokctl controller manifest`.

`python docs/generate_chart.py` writes the files; with `--check` it only compares them, and exits with 1
if one is old. So the chart and the manifest have one source.
"""  # noqa: INP001 - a program, not a package

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from kwokctl import __version__
from kwokctl.clusters.in_cluster.configuration import FILE
from kwokctl.clusters.in_cluster.manifest import manifest
from kwokctl.clusters.in_cluster.request import IMAGE, ManifestRequest
from kwokctl.clusters.in_cluster.stages import chosen_stages
from kwokctl.clusters.in_cluster.steering import steering
from kwokctl.config.kinds import KINDS, KWOK
from kwokctl.expr import yaml
from kwokctl.json_value import Json

CHART = Path(__file__).parents[1] / "charts" / "kwok"
_WRITTEN = "# Written by docs/generate_chart.py; `make docs` writes it again.\n"
_REPLICAS = 987654321
_PLACES: Mapping[str, str] = {
    str(_REPLICAS): "{{ .Values.replicas }}",
    "PLACE-OF-NAMESPACE": "{{ .Release.Namespace }}",
    "PLACE-OF-IMAGE": '"{{ .Values.image.repository }}:{{ .Values.image.tag }}"',
    "PLACE-OF-RESOURCES": "{{ toJson .Values.resources }}",
    "PLACE-OF-NODE-IP": '--node-ip=$({{ if eq .Values.kubeletThrough "pod" }}POD_IP'
    "{{ else }}KWOK_CONTROLLER_SERVICE_HOST{{ end }})",
}
"""What is in the objects, and what takes its place in the chart."""
_CONFIGURATION = f"""\
data:
  {FILE}: |
{{{{ .Files.Get "files/{FILE}" | indent 4 }}}}
"""


def request() -> ManifestRequest:
    """Return the controller of the chart, with marks for what users choose."""
    return ManifestRequest(
        stages=chosen_stages((), ()),
        custom_kinds=KINDS[KWOK],
        namespace="PLACE-OF-NAMESPACE",
        replicas=_REPLICAS,
        image="PLACE-OF-IMAGE",
    )


def files() -> Mapping[Path, str]:
    """Return the text of each file."""
    found = list(manifest(request()))
    definitions = [each for each in found if each["kind"] == "CustomResourceDefinition"]
    # Helm makes the namespace, and applies definitions before all else from a folder of their own.
    objects = [each for each in found if each not in definitions and each["kind"] != "Namespace"]
    resources = _container(objects)["resources"]
    steered = yaml.dump_all(list(steering())).rstrip("\n")
    return {
        CHART / "Chart.yaml": _WRITTEN + yaml.dump(_description()),
        CHART / "values.yaml": _WRITTEN + yaml.dump(_values(resources)),
        CHART / "crds" / "crds.yaml": _WRITTEN + yaml.dump_all(definitions),
        CHART / "files" / FILE: _configuration(objects),
        CHART / "templates" / "controller.yaml": _WRITTEN + "---\n".join(_templates(objects)),
        CHART / "templates" / "steering.yaml": f"{_WRITTEN}{{{{- if .Values.steerPods }}}}\n"
        f"{steered}\n{{{{- end }}}}\n",
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


def _values(resources: Json) -> Json:
    repository, _, tag = IMAGE.rpartition(":")
    return {
        "replicas": 1,
        "image": {"repository": repository, "tag": tag},
        "kubeletThrough": "service",
        "steerPods": False,
        "resources": resources,
    }


def _container(objects: list[Mapping[str, Json]]) -> dict[str, Json]:
    [deployment] = [each for each in objects if each["kind"] == "Deployment"]
    container: dict[str, Json] = deployment["spec"]["template"]["spec"]["containers"][0]
    return container


def _configuration(objects: list[Mapping[str, Json]]) -> str:
    [found] = [each for each in objects if each["kind"] == "ConfigMap"]
    return str(found["data"][FILE])


def _templates(objects: list[Mapping[str, Json]]) -> Iterator[str]:
    """Yield the objects as Helm reads them; Stages hold templates of their own, so are no part."""
    container = _container(objects)
    container["resources"] = "PLACE-OF-RESOURCES"
    container["args"] = [_argument(each) for each in container["args"]]
    for each in objects:
        if each["kind"] == "ConfigMap":
            body = {key: value for key, value in each.items() if key != "data"}
            yield _placed(yaml.dump(body)) + _CONFIGURATION
        else:
            yield _placed(yaml.dump(dict(each)))


def _argument(text: str) -> str:
    return "PLACE-OF-NODE-IP" if text.startswith("--node-ip=") else text


def _placed(text: str) -> str:
    for mark, template in _PLACES.items():
        text = text.replace(mark, template)
    return text


def _there() -> Mapping[Path, str]:
    found = (path for path in CHART.rglob("*") if path.is_file())
    return {path: path.read_text(encoding="utf-8") for path in found}


def main() -> int:
    """Write the files, or compare them."""
    wanted = files()
    if "--check" in sys.argv[1:]:
        return int(_there() != wanted)
    for old in _there().keys() - wanted.keys():
        old.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
