""""""

import pytest

from kwokctl.clusters.launching.drafts import profile_notes
from kwokctl.components.catalog import usual_options
from kwokctl.config.data_path import Choice
from kwokctl.config.options import ClusterOptions
from kwokctl.config.profiles import PROFILES
from kwokctl.config.resolve import resolve_options
from kwokctl.errors import CapacityError

PATH = Choice(path="etcd", why="fast")
GIB = 1 << 30


def options(**given: str) -> ClusterOptions:
    return resolve_options(usual_options(), given, {}, []).options


def test_without_a_profile_nothing_is_said() -> None:
    assert profile_notes(options(), (), PATH) == ()


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_fits_its_own_quota_and_says_what_it_sets_and_needs(profile: str) -> None:
    settings, needs = profile_notes(options(profile=profile), (), PATH, memory=64 * GIB)

    assert settings.startswith(f"profile {profile}: controller-parallelism ")
    assert f"with {PROFILES[profile].nodes:,} nodes and " in needs
    assert "heartbeats take" in needs


def test_values_that_were_given_are_shown_as_they_are() -> None:
    chosen = options(profile="1k", etcd_quota_backend_size="3Gi")
    assert "etcd-quota-backend-size 3Gi" in profile_notes(chosen, (), PATH)[0]


def test_a_profile_that_needs_more_memory_than_there_is_is_refused() -> None:
    with pytest.raises(CapacityError, match="the profile '50k' does not fit") as refused:
        profile_notes(options(profile="50k"), (), PATH, memory=4 * GIB)
    assert refused.value.hint
    assert "smaller --profile" in refused.value.hint
