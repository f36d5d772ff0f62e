"""Loads in virtual time: when arrivals are sent, what is counted, and what the verdict says."""

import json

import pytest

from kwokctl.errors import ApiError
from kwokctl.load.arrival import Arrival, Made
from kwokctl.load.description.bundles import RUN_LABEL
from kwokctl.load.load_verdict import Tally
from tests.support.load_rig import MemoryCluster, load_of, play, played

SECOND = 1_000_000_000
_NEVER_DONE = [{"template": "{apiVersion: v1, kind: ConfigMap}"}]
"""What is over by its time to live only."""


def refusal(reason: str) -> ApiError:
    return ApiError("exceeded quota: compute", status=403, reason=reason)


def test_arrivals_are_sent_when_they_are_due_and_have_three_times() -> None:
    verdict, observed, _ = played(
        load_of({"every": "2s"}, count=3), lambda: MemoryCluster(seconds=0.5)
    )
    times = [(each.due, each.sent, each.accepted) for each in observed.arrivals]
    assert times == [(n * SECOND, n * SECOND, n * SECOND + SECOND // 2) for n in (0, 2, 4)]
    assert observed.arrivals[1].made == (Made("v1", "Pod", "default", "web-1", "uid-1"),)
    assert (verdict.arrivals, verdict.accepted, verdict.objects, verdict.late) == (3, 3, 3, 0)
    assert not verdict.problem


def test_speed_makes_arrivals_due_earlier() -> None:
    _, observed, _ = played(load_of({"every": "2s"}, count=3), speed=4.0)
    assert [each.due for each in observed.arrivals] == [0, SECOND // 2, SECOND]


def test_no_arrival_is_left_out_where_the_server_is_slower_and_the_verdict_says_so() -> None:
    verdict, observed, _ = played(
        load_of({"every": "10ms"}, count=500), lambda: MemoryCluster(seconds=0.1, at_once=4)
    )
    assert [each.index for each in observed.by_number] == list(range(500))
    assert [each.due for each in observed.by_number] == [n * SECOND // 100 for n in range(500)]
    assert verdict.accepted == 500
    # 64 are under way when the first has to wait, and four are answered each 0.1 s.
    assert verdict.late == sum(each.sent - each.due > SECOND // 10 for each in observed.arrivals)
    assert verdict.late > 300
    assert verdict.problem == "40.1 of 100 a second: the API server was slower than the load"


def test_a_bulk_load_is_held_up_by_watchers_and_the_verdict_says_so() -> None:
    tally = Tally("web", "web")
    for number in range(100):
        due, sent = number * SECOND // 100, number * SECOND // 10
        tally.note(
            Arrival(load="web", phase="web", index=number, act="create", due=due, sent=sent,
                    accepted=sent, past_api=1)
        )  # fmt: skip
    tally.waited_for_server = 9 * SECOND
    verdict = tally.verdict()
    assert verdict.past_api == 100
    assert (
        verdict.problem == "10 of 100 a second: watchers of the cluster were slower than the load"
    )


def test_no_more_requests_are_under_way_than_there_are_connections() -> None:
    _, _, cluster = played(
        load_of({"burst": {"size": 300, "every": "1s"}}, count=300),
        lambda: MemoryCluster(seconds=1.0, at_once=300),
    )
    assert cluster.most == 64


def test_a_load_is_held_up_by_its_own_qps_and_the_verdict_says_so() -> None:
    verdict, observed, cluster = played(
        load_of({"every": "10ms"}, count=100, qps=20), lambda: MemoryCluster(at_once=100)
    )
    assert cluster.sent == pytest.approx([n / 20 for n in range(100)])
    assert [each.sent for each in observed.by_number] == pytest.approx(
        [n * SECOND / 20 for n in range(100)]
    )
    assert verdict.problem == "20 of 100 a second: its own 'qps' was slower than the load"


def test_refusals_are_counted_by_reason_and_other_arrivals_go_on() -> None:
    def cluster() -> MemoryCluster:
        found = MemoryCluster()
        found.refuse = lambda _, number: refusal("Forbidden") if number in (1, 2) else None
        return found

    verdict, observed, _ = played(load_of({"every": "1s"}, count=5), cluster)
    assert verdict.refused == {"Forbidden": 2}
    assert verdict.examples == {"Forbidden": "exceeded quota: compute"}
    assert (verdict.arrivals, verdict.accepted, verdict.objects) == (5, 3, 3)
    refused = observed.arrivals[1]
    assert (refused.accepted, refused.refusal, refused.made) == (None, "Forbidden", ())
    assert refused.message == "exceeded quota: compute"


def test_a_refusal_may_stop_the_arrivals_of_all_loads() -> None:
    def cluster() -> MemoryCluster:
        found = MemoryCluster()
        found.refuse = lambda body, _: (
            refusal("Forbidden") if body["metadata"]["name"] == "web-2" else None
        )
        return found

    loads = [
        load_of({"every": "1s"}, count=9, onRefusal="stop"),
        load_of({"every": "1h"}, "rare", count=9),
        load_of({"every": "1s"}, "later", count=9, after="rare"),
    ]
    verdicts, _, used = play(loads, cluster)
    assert [each.arrivals for each in verdicts] == [3, 1, 0]
    assert used.ended == 2


def test_a_refused_arrival_may_be_tried_again_and_what_it_has_made_is_not_made_twice() -> None:
    def cluster() -> MemoryCluster:
        found = MemoryCluster()
        found.refuse = lambda body, number: (
            refusal("Forbidden") if body["kind"] == "Pod" and number < 4 else None
        )
        return found

    template = "{apiVersion: v1, kind: ConfigMap}\n---\n{apiVersion: v1, kind: Pod}"
    load = load_of({"at": ["0s"]}, onRefusal="retry", create=[{"template": template}])
    verdict, observed, used = played(load, cluster)
    assert [each["kind"] for each in used.bodies] == ["ConfigMap", "Pod"]
    assert (verdict.accepted, verdict.retries, verdict.refused) == (1, 3, {})
    (arrival,) = observed.arrivals
    assert arrival.sent == 0
    assert [each.kind for each in arrival.made] == ["ConfigMap", "Pod"]
    # Pauses of half a second, a second and two, each with up to a fifth more.
    assert 3.5 * SECOND <= (arrival.accepted or 0) <= 4.2 * SECOND


def test_tries_end_and_the_arrival_is_refused() -> None:
    def cluster() -> MemoryCluster:
        found = MemoryCluster()
        found.refuse = lambda _, __: refusal("Forbidden")
        return found

    verdict, _, used = played(load_of({"at": ["0s"]}, onRefusal="retry"), cluster)
    assert len(used.sent) == 10
    assert (verdict.refused, verdict.retries) == ({"Forbidden": 1}, 9)


def test_a_bundle_ends_with_its_first_refusal_and_what_was_made_is_reported() -> None:
    def cluster() -> MemoryCluster:
        found = MemoryCluster()
        found.refuse = lambda body, _: refusal("Forbidden") if body["kind"] == "Pod" else None
        return found

    template = (
        "{apiVersion: v1, kind: ConfigMap}\n---\n{apiVersion: v1, kind: Pod}\n---\n"
        "{apiVersion: v1, kind: Secret}"
    )
    verdict, observed, used = played(
        load_of({"at": ["0s"]}, create=[{"template": template}]), cluster
    )
    assert len(used.sent) == 2
    assert [each.kind for each in observed.arrivals[0].made] == ["ConfigMap"]
    assert (verdict.objects, verdict.refused) == (1, {"Forbidden": 1})


def test_a_kind_that_a_template_gives_later_and_that_is_not_served_is_a_refusal() -> None:
    template = "apiVersion: v1\nkind: {{ if eq .index 1 }}Widget{{ else }}Pod{{ end }}\n"
    verdict, _, _ = played(load_of({"every": "1s"}, count=3, create=[{"template": template}]))
    assert verdict.refused == {"not-found": 1}


def test_what_is_made_has_the_labels_of_load_and_run_also_in_templates_of_pods() -> None:
    job = """
apiVersion: batch/v1
kind: Job
metadata: {labels: {mine: kept}}
spec: {template: {spec: {containers: []}}}
"""
    _, _, used = played(load_of({"at": ["0s"]}, create=[{"template": job}]))
    labels = {"kwokctl.dev/load": "web", "kwokctl.dev/run": "test"}
    assert used.bodies[0]["metadata"]["labels"] == {"mine": "kept", **labels}
    assert used.bodies[0]["spec"]["template"]["metadata"]["labels"] == labels


def test_a_load_that_is_added_leaves_the_draws_of_others_alone() -> None:
    params = {"cpu": {"integer": {"from": 1, "to": 1000}}, "gpus": {"choice": [1, 2, 4, 8]}}
    template = 'apiVersion: v1\nkind: Pod\nmetadata: {annotations: {drawn: "{{ .params.cpu }}-{{ .params.gpus }}"}}'

    def drawn(*names: str, seed: int = 0) -> dict[str, tuple[int, str]]:
        loads = [
            load_of(
                {"poisson": "1/s"}, name, count=20, params=params, create=[{"template": template}]
            )
            for name in names
        ]
        _, observed, used = play(loads, seed=seed)
        dues = {each.made[0].name: each.due for each in observed.arrivals}
        return {
            each["metadata"]["name"]: (
                dues[each["metadata"]["name"]],
                each["metadata"]["annotations"]["drawn"],
            )
            for each in used.bodies
        }

    alone = drawn("web")
    together = drawn("other", "web", "third")
    assert len(set(alone.values())) > 15
    assert alone.items() <= together.items()
    assert drawn("web") == alone
    assert drawn("web", seed=1) != alone


def test_a_load_may_begin_when_another_is_over() -> None:
    loads = [
        load_of({"every": "1s"}, "second", count=2, after="first"),
        load_of({"every": "5s"}, "first", count=2),
    ]
    _, observed, _ = play(loads, lambda: MemoryCluster(seconds=0.5))
    dues = {(each.load, each.index): each.due for each in observed.arrivals}
    assert dues["second", 0] == 5.5 * SECOND
    assert dues["second", 1] == 6.5 * SECOND


def test_one_of_several_templates_is_chosen_by_its_weight() -> None:
    templates = [
        {"template": "{apiVersion: v1, kind: Pod}", "weight": 3},
        {"template": "{apiVersion: v1, kind: Secret}"},
    ]
    _, _, used = played(load_of({"every": "10ms"}, count=2000, create=templates))
    pods = sum(each["kind"] == "Pod" for each in used.bodies)
    assert pods / 2000 == pytest.approx(0.75, abs=0.03)


def test_objects_are_deleted_when_their_time_to_live_is_over() -> None:
    load = load_of({"every": "2s"}, count=2, ttl="5s")
    _, _, cluster = played(load, lambda: MemoryCluster(seconds=0.5))
    assert cluster.deleted == [(5.5, "web-0"), (7.5, "web-1")]
    _, _, faster = played(load, speed=2.0)
    assert faster.deleted == [(2.5, "web-0"), (3.5, "web-1")]


def test_arrivals_in_turn_are_due_when_one_ends() -> None:
    verdict, observed, _ = played(
        load_of({"concurrency": 2}, count=5, ttl="4s", create=_NEVER_DONE)
    )
    assert [each.due / SECOND for each in observed.by_number] == [0, 0, 4, 4, 8]
    assert verdict.late == 0


def test_arrivals_in_turn_come_for_as_long_as_was_asked_for() -> None:
    load = load_of({"concurrency": 1}, for_="10s", ttl="4s", create=_NEVER_DONE)
    _, observed, _ = played(load)
    assert [each.due / SECOND for each in observed.by_number] == [0, 4, 8]


def test_refusals_do_not_run_wild_where_arrivals_take_turns() -> None:
    def cluster() -> MemoryCluster:
        found = MemoryCluster()
        found.refuse = lambda _, __: refusal("Forbidden")
        return found

    _, observed, _ = played(load_of({"concurrency": 1}, for_="4s", ttl="9s"), cluster)
    assert [each.due / SECOND for each in observed.by_number] == [0, 1, 2, 3]


def tallied(*times: tuple[float, float, float]) -> Tally:
    """Count arrivals by the seconds at which they were due, sent and accepted."""
    tally = Tally("web", "web")
    for number, (due, sent, accepted) in enumerate(times):
        arrival = Arrival(
            load="web",
            phase="web",
            index=number,
            act="create",
            due=round(due * SECOND),
            sent=round(sent * SECOND),
            accepted=round(accepted * SECOND),
        )
        tally.note(arrival)
    return tally


def test_what_is_late_though_nothing_holds_it_up_is_late_by_this_machine() -> None:
    tally = tallied(*((n / 100, n / 10 + 0.2, n / 10 + 0.2) for n in range(20)))
    assert tally.verdict().problem == "10 of 100 a second: this machine was slower than the load"


def test_a_load_that_was_sent_in_time_is_what_was_asked_for_though_its_last_answers_took_long() -> (
    None
):
    tally = tallied(*((n / 10, n / 10, n / 10 + (n == 19)) for n in range(20)))
    verdict = tally.verdict()
    assert verdict.reached_rate == pytest.approx(19 / 2.9)
    assert not verdict.problem


class ForgetfulCluster(MemoryCluster):
    """Loses its answer to the first creation of an object, which is there when it is asked again."""

    def __init__(self, run: str, *, is_going: bool = False) -> None:
        super().__init__()
        going = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if is_going else {}
        self._metadata = {
            "uid": "found",
            "namespace": "default",
            "labels": {RUN_LABEL: run},
            **going,
        }
        self.asked = 0

    async def call(
        self, method: str, path: str, body: bytes = b"", *, content_type: str = ""
    ) -> bytes:
        if method == "GET":
            named = {"name": path.rpartition("/")[2]}
            return json.dumps({"metadata": self._metadata | named}).encode()
        self.asked += 1
        if self.asked == 1:
            raise ApiError("the connection was closed", status=0, reason="ConnectionLost")
        raise ApiError("it exists", status=409, reason="AlreadyExists")


@pytest.mark.parametrize(
    ("run", "is_going", "made"),
    [("test", False, ["found"]), ("test", True, []), ("another", False, [])],
)
def test_an_object_whose_creation_was_not_answered_is_of_this_run_if_its_label_says_so(
    run: str, *, is_going: bool, made: list[str]
) -> None:
    load = load_of({"at": ["0s"]}, onRefusal="retry")

    verdict, observed, _ = played(load, lambda: ForgetfulCluster(run, is_going=is_going))

    assert [each.uid for each in observed.arrivals[0].made] == made
    assert verdict.accepted == len(made)


def test_an_object_that_exists_before_it_is_asked_for_is_not_of_this_run() -> None:
    class Taken(ForgetfulCluster):
        def __init__(self) -> None:
            super().__init__("test")
            self.asked = 1

    verdict, _, _ = played(load_of({"at": ["0s"]}, onRefusal="retry"), Taken)

    assert verdict.accepted == 0
