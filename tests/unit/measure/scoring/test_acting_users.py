"""Who has acted on nodes and pods, as an audit log says: figures by records written by hand."""

import pytest

from kwokctl.measure.figures.values import Missing
from kwokctl.measure.record.fleet_lines import PodInterruption
from kwokctl.measure.record.record_lines import RunScope
from kwokctl.measure.reports.score import ScoreRequest, score_of
from kwokctl.measure.scoring.scorecard import Scorecard
from tests.support.measured import SECOND, life
from tests.support.scored import detail, number, value
from tests.support.storied import Story


def audited() -> Story:
    """Return a story in which `medic` cordons n1 and takes that back, and the audit log names users."""
    story = Story()
    story.fault(10, 1)
    story.cordon(15, 1)
    story.uncordon(60, 1)
    story.request(14.9, "anna", "n1")
    story.request(59.8, "bert", "n1")
    return story


def test_an_act_has_the_user_whose_request_was_answered_just_before_it_was_seen() -> None:
    story = audited()
    story.request(14.9, "other", "n2")
    story.request(15.001, "later", "n1")
    story.request(12.9, "earlier", "n1")

    assert detail(story, "acts") == {
        "cordon by medic (user anna)": 1,
        "uncordon by user bert": 1,
    }
    (row,) = score_of(story.history(), ScoreRequest(record="x")).incidents
    assert (row.by, row.user) == ("medic", "anna")


def test_a_watch_that_is_late_by_two_seconds_or_as_it_was_seen_to_be_leaves_no_doubt() -> None:
    story = Story()
    story.fault(10, 1)
    story.cordon(15, 1)
    story.request(12.98, "anna", "n1")
    assert detail(story, "acts") == {"cordon by medic": 1}

    story.lag(2.01)
    assert detail(story, "acts") == {"cordon by medic (user anna)": 1}


@pytest.mark.parametrize(
    ("lag", "author"), [(0.02, "user anna"), (0.49, "user anna"), (0.51, "unknown")]
)
def test_of_several_users_the_one_is_named_within_the_time_that_the_watch_was_seen_to_take(
    lag: float, author: str
) -> None:
    story = Story()
    story.fault(10, 1)
    story.uncordon(60, 1)
    story.request(59.49, "bert", "n1")
    story.request(59.91, "anna", "n1")
    story.lag(0.01)
    story.lag(lag)

    assert f"uncordon by {author}" in detail(story, "acts")


def test_of_several_users_none_is_named_but_others_than_the_controller_of_fake_nodes() -> None:
    story = audited()
    story.request(14.95, "kwok-controller", "n1")
    story.request(59.9, "anna", "n1")
    story.cordon(80, 1)
    story.request(79.9, "kwok-controller", "n1")
    story.lag(0.3)

    assert detail(story, "acts") == {
        "cordon by medic (user anna)": 1,
        "uncordon by unknown": 1,
        "cordon by medic (user kwok-controller)": 1,
    }


def test_a_request_that_takes_long_is_known_from_its_beginning_to_its_end() -> None:
    story = Story()
    story.fault(10, 1)
    story.cordon(15, 1)
    story.request(5, "anna", "n1", took=9.95)

    assert detail(story, "acts") == {"cordon by medic (user anna)": 1}


def test_a_deleted_node_and_evicted_pods_have_the_users_of_their_requests() -> None:
    story = Story()
    story.fault(10, 1)
    story.evicted(20, 1)
    story.request(19.9, "anna", "old", "evict pod", namespace="default")
    story.add(25, *life(1, 20 * SECOND, 21 * SECOND, 22 * SECOND, node="n1"))
    reason = story.text("EvictionByEvictionAPI")
    story.add(30, PodInterruption(30 * SECOND, 1, 0, reason, story.text("n1")))
    story.request(29.9, "bert", "web-1", "evict pod", namespace="default")
    story.request(29.9, "carl", "web-2", "evict pod", namespace="default")
    story.gone(40, 1)
    story.request(39.9, "dora", "n1", "delete node")

    assert detail(story, "acts") == {
        "delete by user dora": 1,
        "evict by user anna": 1,
        "evict by user bert": 1,
    }


def test_evictions_that_budgets_refuse_are_counted_by_user() -> None:
    story = audited()
    for user, namespace in (("anna", "a"), ("anna", "b"), ("bert", "a")):
        story.request(20, user, "web", "evict pod", refused=True, namespace=namespace)
    story.request(20, "anna", "web", "evict pod", namespace="a")

    assert detail(story, "refused_evictions") == {"anna": 2, "bert": 1}
    assert story.card(since=21 * SECOND).refused_evictions == {}
    within = story.history(scope=RunScope(namespace="a"))
    assert Scorecard(within).refused_evictions == {"anna": 1, "bert": 1}


def test_pods_deleted_past_a_budget_count_if_somebody_is_known_to_have_deleted_them() -> None:
    story = audited()
    story.guarded(30, "web-1")
    story.guarded(31, "web-2")
    story.guarded(40, "web-3")
    for name in ("web-1", "web-2", "free"):
        story.request(29.9, "anna", name, "delete pod", namespace="default")
    story.request(30.9, "anna", "web-2", "delete pod", namespace="default")
    story.request(39.9, "anna", "web-3", "delete pod", namespace="other")

    assert detail(story, "past_budgets") == {"anna": 2}
    assert story.card(since=31 * SECOND).past_budgets == {"anna": 1}


def test_what_only_an_audit_log_knows_says_so_without_one() -> None:
    story = audited()
    story.missing = {"clients": "no log"}
    for name in ("refused_evictions", "past_budgets"):
        assert value(story, name) == Missing("no log")
    story.missing = {"poddisruptionbudgets": "no right"}
    assert number(story, "refused_evictions") == 0
    assert value(story, "past_budgets") == Missing("no right")
