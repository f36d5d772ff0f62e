import pytest

from kwokctl.components.choose_data_path import choose_data_path
from kwokctl.config.options import ClusterOptions
from tests.support.options import changed, cluster_options
from tests.support.patches import patched

PLAIN = cluster_options()


def chosen(options: ClusterOptions) -> str:
    return choose_data_path(options).path


def why(options: ClusterOptions) -> str:
    return choose_data_path(options).why


def test_a_plain_cluster_is_written_to_past_the_api_server() -> None:
    assert chosen(PLAIN) == "etcd"


def test_the_choice_is_one_line_with_its_reason() -> None:
    line = str(choose_data_path(changed(PLAIN, data_path="api")))

    assert line == "writes: through the API server (as requested)"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (changed(PLAIN, kube_audit_policy="/p.yaml"), "audit log"),
        (changed(PLAIN, kwok_controller_binary="/bin/kwok"), "another controller"),
        (changed(PLAIN, disable=("kwok-controller",)), "no 'kwok-controller'"),
        (changed(PLAIN, api_faults=True), "faults of the API"),
        (changed(PLAIN, enable=("kwok-api-proxy",)), "faults of the API"),
        (changed(PLAIN, components=("etcd", "kube-apiserver")), "no 'kwok-controller'"),
        *(
            (changed(PLAIN, extra_args=(f"kube-apiserver={flag}=x",)), f"'{flag}'")
            for flag in (
                "encryption-provider-config",
                "storage-media-type",
                "etcd-servers-overrides",
                "etcd-prefix",
                "admission-control-config-file",
                "enable-admission-plugins",
                "audit-webhook-config-file",
            )
        ),
    ],
)
def test_what_would_be_skipped_or_missed_sends_writes_through_the_api_unless_etcd_is_insisted_on(
    options: ClusterOptions, reason: str
) -> None:
    assert chosen(options) == "api"
    assert reason in why(options)
    insisted = changed(options, data_path="etcd")
    assert chosen(insisted) == "etcd"
    assert reason in why(insisted)


def test_arguments_for_other_components_and_harmless_ones_change_nothing() -> None:
    words = ("kube-scheduler=audit-x=1", "kube-apiserver=v=4", "etcd=snapshot-count=1000")

    assert chosen(changed(PLAIN, extra_args=words)) == "etcd"


def test_the_arguments_of_a_saved_cluster_count_in_place_of_those_just_given() -> None:
    patches = patched("kube-apiserver", {"enable-admission-plugins": "X"})

    choice = choose_data_path(PLAIN, patches=patches)

    assert choice.path == "api"
