import pytest

from kwokctl.components.catalog import usual_options
from kwokctl.config.config_documents import Document
from kwokctl.config.declaring import OptionValue
from kwokctl.config.options import spellings
from kwokctl.config.profiles import PROFILES
from kwokctl.config.resolve import resolve_options
from tests.support.options import option


def test_every_profile_sets_the_same_options_all_of_which_exist() -> None:
    fields = {each.field for each in spellings(usual_options())}
    for profile in PROFILES.values():
        assert profile.values.keys() == PROFILES["small"].values.keys() <= fields


@pytest.mark.parametrize("place", ["flag", "variable", "document"])
def test_a_profile_can_be_chosen_in_every_place(place: str) -> None:
    document = Document(
        kind="KwokctlConfiguration",
        api_version="config.kwok.x-k8s.io/v1alpha1",
        name="",
        body={"options": {"profile": "50k"}},
        source="mine.yaml",
    )
    resolved = resolve_options(
        usual_options(),
        {"profile": "50k"} if place == "flag" else {},
        {"KWOK_PROFILE": "50k"} if place == "variable" else {},
        [document] if place == "document" else [],
    )
    assert option(resolved.options, "etcd_quota_backend_size") == "16Gi"
    assert option(resolved.options, "node_heartbeat") == "stretched"
    assert resolved.chosen == {"profile"}


def test_what_is_given_by_itself_wins_over_the_profile() -> None:
    given: dict[str, OptionValue] = {"profile": "50k", "go_gc": 300}
    options = resolve_options(usual_options(), given, {}, []).options
    assert (option(options, "go_gc"), option(options, "controller_parallelism")) == (300, 64)
