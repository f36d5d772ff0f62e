from pathlib import Path
from typing import Any

import pytest

from kwokctl.components.catalog import usual_options
from kwokctl.config.config_documents import Document
from kwokctl.config.option_keys import options_from_document, options_to_document
from kwokctl.config.resolve import Resolved
from kwokctl.config.resolve import resolve_options as resolve_with
from kwokctl.errors import ConfigError, NotServedError, UsageError
from kwokctl.expr import yaml
from tests.support.options import cluster_options, option


def resolve_options(
    flags: dict[str, Any], environ: dict[str, str], documents: list[Document]
) -> Resolved:
    return resolve_with(usual_options(), flags, environ, documents)


def configuration(**options: Any) -> Document:
    return Document(
        kind="KwokctlConfiguration",
        api_version="config.kwok.x-k8s.io/v1alpha1",
        name="",
        body={"kind": "KwokctlConfiguration", "options": options},
        source="kwok.yaml",
    )


def test_a_flag_wins_over_the_environment_and_that_over_documents() -> None:
    documents = [
        configuration(etcdPort=1, kubeApiserverPort=1, kwokControllerPort=1, etcdPrefix="/a"),
        configuration(etcdPrefix="/b"),
    ]
    environ = {"KWOK_ETCD_PORT": "2", "KWOK_KUBE_APISERVER_PORT": "2"}

    resolved = resolve_options({"etcd_port": 3}, environ, documents)

    options = resolved.options
    assert [
        option(options, f"{name}_port") for name in ("etcd", "kube_apiserver", "controller")
    ] == [3, 2, 1]
    assert option(options, "etcd_prefix") == "/b"
    assert "etcd_port" in resolved.chosen
    assert "kube_version" not in resolved.chosen


def test_a_runtime_that_is_to_be_chosen_is_none_that_was_chosen() -> None:
    resolved = resolve_options({"runtime": "auto"}, {"KWOK_RUNTIME": "docker"}, [])

    assert resolved.options.runtime == ""
    assert "runtime" not in resolved.chosen


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("KWOK_KUBE_VERSION", "v1.35.4", "kube_version", "v1.35.4"),
        ("KWOK_DISABLE_KUBE_SCHEDULER", "true", "disable_kube_scheduler", True),
        ("KWOK_CONTROLLER_PORT", "10247", "controller_port", 10247),
        ("KWOK_CONTROLLER_BINARY", "/bin/true", "kwok_controller_binary", "/bin/true"),
        ("KWOK_ETCD_PORT", "", "etcd_port", 0),
    ],
)
def test_the_environment_is_read_by_the_names_of_the_original(
    name: str, text: str, field: str, value: object
) -> None:
    assert option(resolve_options({}, {name: text}, []).options, field) == value


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"KWOK_ETCD_PORT": "many"}, "KWOK_ETCD_PORT is 'many', not a whole number"),
        ({"KWOK_KUBE_AUTHORIZATION": "perhaps"}, "KWOK_KUBE_AUTHORIZATION is 'perhaps'"),
    ],
)
def test_a_variable_that_cannot_be_read_is_named(environ: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        resolve_options({}, environ, [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("http", "'http', not a whole number"),
        ("", "'', not a whole number"),
        ("-1", "'-1', less than 0"),
        ("70000", "'70000', more than 65535"),
    ],
)
def test_a_port_that_cannot_be_one_is_refused_with_its_flag(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=f"'--etcd-port' is {problem}"):
        resolve_options({"etcd_port": text}, {}, [])


def test_a_misspelt_key_is_named_with_its_place_and_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"kwok.yaml: options.etcdPrt is not") as caught:
        resolve_options({}, {}, [configuration(etcdPrt=1)])

    assert caught.value.hint == "did you mean 'etcdPort'?"


@pytest.mark.parametrize(
    ("key", "value"), [("etcdPort", "x"), ("components", "etcd"), ("etcdTLS", 1)]
)
def test_a_value_of_the_wrong_type_is_named_with_its_place(key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"options.{key} must be"):
        resolve_options({}, {}, [configuration(**{key: value})])


def test_a_name_in_a_document_is_ignored_with_a_warning() -> None:
    named = configuration()
    named.body["name"] = "mine"

    found = resolve_options({}, {}, [named])

    assert found.warnings == ("kwok.yaml: 'name' has no effect; '--name mine' names a cluster",)


def test_an_option_that_is_not_served_yet_is_refused_in_documents() -> None:
    with pytest.raises(NotServedError, match=r"kwok.yaml: options.kueuevizPort is not supported"):
        resolve_options({}, {}, [configuration(kueuevizPort=9090)])


def test_an_option_that_can_change_nothing_is_named_wherever_it_is_given() -> None:
    environ = {"KWOK_JAEGER_VERSION": "1"}

    (said,) = resolve_options({}, environ, [configuration(jaegerBinaryPrefix="b")]).warnings

    assert said == (
        "KWOK_JAEGER_VERSION, kwok.yaml: options.jaegerBinaryPrefix: without effect, because "
        "kwokctl does not download jaeger; give it with --jaeger-binary or --jaeger-image"
    )


def test_an_archive_of_etcd_gives_its_programs_unless_they_are_given() -> None:
    url = "https://example.com/etcd.tar.gz"
    documents = [configuration(etcdBinaryTar=url)]

    options = resolve_options({"etcdctl_binary": "/bin/true"}, {}, documents).options

    assert option(options, "etcd_binary") == f"{url}#etcd"
    assert option(options, "etcdctl_binary") == "/bin/true"
    assert option(options, "etcdutl_binary") == f"{url}#etcdutl"


def test_an_archive_of_prometheus_gives_its_program() -> None:
    options = resolve_options(
        {"prometheus_binary_tar": "https://example.com/a.tar.gz"}, {}, []
    ).options

    assert option(options, "prometheus_binary") == "https://example.com/a.tar.gz#prometheus"


@pytest.mark.parametrize(("text", "factor"), [("2.5", 2.5), ("5", 5), ("1.0", 1), (".5", 0.5)])
def test_a_factor_is_any_decimal_number(text: str, factor: float) -> None:
    assert resolve_options({"heartbeat_factor": text}, {}, []).options.heartbeat.factor == factor
    documents = [configuration(heartbeatFactor=factor)]
    assert resolve_options({}, {}, documents).options.heartbeat.factor == factor


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "2.5"])
def test_a_factor_in_a_document_is_a_number(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"options.heartbeatFactor must be a number"):
        resolve_options({}, {}, [configuration(heartbeatFactor=value)])


@pytest.mark.parametrize("text", ["1.35.4", "v1.35.4"])
def test_a_version_is_one_however_it_is_written(text: str) -> None:
    assert resolve_options({"kube_version": text}, {}, []).options.kube_version == "v1.35.4"


def test_a_file_that_is_here_is_found_from_every_other_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("etcd", "kubectl"):
        (tmp_path / name).touch(mode=0o755)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    monkeypatch.setenv("PATH", str(tmp_path))
    given = {
        "etcd_binary": "../etcd",
        "etcdctl_binary": "../etcd#etcdctl",
        "kubectl_binary": "kubectl",
        "kube_apiserver_binary": "https://example.com/kube-apiserver",
    }

    options = resolve_options(given, {}, []).options

    assert option(options, "etcd_binary") == f"{tmp_path}/folder/../etcd"
    assert option(options, "etcdctl_binary") == f"{tmp_path}/folder/../etcd#etcdctl"
    assert option(options, "kubectl_binary") == "kubectl"
    assert option(options, "kube_apiserver_binary") == "https://example.com/kube-apiserver"


@pytest.mark.parametrize(
    ("field", "word", "said"),
    [
        ("data_path", "disk", "'--data-path' is 'disk'"),
        ("etcd_fsync", "maybe", "'--etcd-fsync' is 'maybe'"),
        ("node_heartbeat", "on", "'--node-heartbeat' is 'on'"),
        ("restart", "always", "'--restart' is 'always'"),
    ],
)
def test_a_word_that_is_no_choice_is_refused_with_the_choices(
    field: str, word: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        resolve_options({field: word}, {}, [])

    assert str(caught.value.hint).startswith("choose from: ")


@pytest.mark.parametrize("word", ["off", "Off", "false", "0"])
def test_a_choice_between_on_and_off_is_written_as_switches_are(word: str) -> None:
    flag = resolve_options({"etcd_fsync": word}, {}, [])
    variable = resolve_options({}, {"KWOK_ETCD_FSYNC": word}, [])

    assert [option(each.options, "etcd_fsync") for each in (flag, variable)] == ["off", "off"]


@pytest.mark.parametrize(
    ("text", "fsync"),
    [("on", "on"), ("off", "off"), ("true", "on"), ("false", "off"), ("'off'", "off")],
)
def test_a_bare_on_or_off_in_yaml_is_understood(text: str, fsync: str) -> None:
    options = yaml.load(f"etcdFsync: {text}\nnodeHeartbeat: off\n")

    resolved = resolve_options({}, {}, [configuration(**options)]).options

    assert (option(resolved, "etcd_fsync"), resolved.heartbeat.kind) == (fsync, "off")


def test_an_empty_choice_counts_as_not_given() -> None:
    resolved = resolve_options({"data_path": "", "node_heartbeat": ""}, {}, [])

    assert resolved.options == cluster_options()
    assert resolved.chosen == frozenset()


def test_what_is_saved_reads_back_the_same() -> None:
    options = cluster_options(
        etcd_port=5, disable=("kube-scheduler",), etcd_tls=False, etcd_fsync="off"
    )

    written = options_to_document(options)
    assert cluster_options(**options_from_document(written, "here", options)) == options
