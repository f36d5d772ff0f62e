""""""

from pathlib import Path

import pytest

from kwokctl.cli.parsing.shared_options import chosen_options, cluster_parameters, kubeconfig_path
from kwokctl.components.catalog import usual_options
from kwokctl.config.options import spellings
from kwokctl.config.original.not_served import NOT_SERVED, NotServed
from kwokctl.config.resolve import resolve_options
from kwokctl.errors import NotServedError


def test_every_option_with_a_flag_is_a_parameter_once() -> None:
    names = [parameter.name for parameter in cluster_parameters()]
    assert len(names) == len(set(names))
    assert {s.field for s in spellings(usual_options()) if s.flag} <= set(names)


def test_only_what_was_given_is_chosen() -> None:
    words = {"etcd_port": "2379", "etcd_tls": False, "kube_version": None, "enable": None}
    assert chosen_options(words) == {"etcd_port": "2379", "etcd_tls": False}


def test_lists_are_parted_at_commas_and_arguments_for_components_are_not() -> None:
    words = {"enable": ["a, b", "c"], "extra_args": ["etcd=x=1,2", "etcd=y"]}
    assert chosen_options(words) == {
        "enable": ("a", "b", "c"),
        "extra_args": ("etcd=x=1,2", "etcd=y"),
    }


_FLAGS = [option for option in NOT_SERVED if option.flag]


@pytest.mark.parametrize("option", _FLAGS, ids=[option.flag for option in _FLAGS])
def test_an_option_that_is_not_served_is_refused_by_name_or_said_to_have_no_effect(
    option: NotServed,
) -> None:
    value = (not option.default) if option.type is bool else "something"
    chosen = chosen_options({option.field: value})

    if option.is_idle:
        (said,) = resolve_options(usual_options(), chosen, {}, []).warnings
        assert said == f"'{option.flag}': without effect, because {option.reason}"
    else:
        with pytest.raises(NotServedError, match=f"'{option.flag}' is not supported"):
            resolve_options(usual_options(), chosen, {}, [])


def test_an_option_that_is_not_served_may_ask_for_nothing() -> None:
    words = {"secure_port": True, "kueueviz_port": "0"}
    assert resolve_options(usual_options(), chosen_options(words), {}, []).warnings == ()


def test_the_kubeconfig_is_the_one_given_and_none_if_that_is_empty() -> None:
    assert kubeconfig_path("/x/config", {"KUBECONFIG": "/y"}) == Path("/x/config")
    assert kubeconfig_path("", {"KUBECONFIG": "/y"}) is None


def test_of_several_kubeconfigs_the_first_that_exists_is_changed_else_the_last(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    environ = {"KUBECONFIG": f"{first}::{second}"}
    assert kubeconfig_path(None, environ) == second
    first.touch()
    assert kubeconfig_path(None, environ) == first


def test_by_default_it_is_the_one_in_the_home_folder() -> None:
    assert kubeconfig_path(None, {}) == Path.home() / ".kube" / "config"
