"""Properties of the division of nodes among members, for any figures."""

from random import Random

import pytest

from kwokctl.controller.membership.planning import (
    deal,
    first_claimant,
    free_share,
    gifts,
    is_even,
    step,
    targets,
)

SEEDS = range(30)


def figures(random: Random) -> dict[str, int]:
    members = [f"m{n}" for n in range(random.randint(1, 9))]
    return {member: random.choice((0, random.randint(0, 400))) for member in members}


@pytest.mark.parametrize("seed", SEEDS)
def test_targets_are_the_whole_nodes_evenly_divided(seed: int) -> None:
    random = Random(seed)
    held = figures(random)
    total = random.randint(0, 900)

    target = targets(held, total)

    assert sum(target.values()) == total
    assert max(target.values()) - min(target.values()) <= 1
    assert max(target.values()) == -(-total // len(held))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_period_moves_a_quarter_of_each_surplus_at_most_and_no_member_past_its_target(
    seed: int,
) -> None:
    held = figures(Random(seed))
    target = targets(held, sum(held.values()))

    given = gifts(held, target, {})

    for giver, to in given.items():
        assert held[giver] > target[giver]
        assert len(to) <= step(held[giver] - target[giver])
    after = moved(held, given)
    for member, number in after.items():
        assert min(held[member], target[member]) <= number <= max(held[member], target[member])


@pytest.mark.parametrize("seed", SEEDS)
def test_any_fleet_is_even_within_two_lease_durations_and_then_stays(seed: int) -> None:
    held = figures(Random(seed))
    target = targets(held, sum(held.values()))
    steps = {member: step(held[member] - target[member]) for member in held}

    for _ in range(8):
        held = moved(held, gifts(held, target, steps))

    assert is_even(held, target)
    assert not any(gifts(held, target, {}).values()) or held == target


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_left_behind_is_dealt_completely_and_evenly(seed: int) -> None:
    random = Random(seed)
    held = figures(random)
    nodes = {f"n{n}" for n in range(random.randint(0, 300))}

    dealt = deal(nodes, held)

    assert dealt.keys() == nodes
    after = moved(held, {"": list(dealt.values())} if dealt else {})
    given_to = set(dealt.values())
    assert all(after[m] <= min(after.values()) + 1 for m in given_to)


def test_a_figure_that_is_a_little_off_changes_few_claims() -> None:
    nodes = [f"n{n:03}" for n in range(200)]

    one = deal(nodes, {"a": 300, "b": 301, "c": 299})
    other = deal(nodes, {"a": 302, "b": 300, "c": 299})

    assert sum(one[node] != other[node] for node in nodes) <= 6


def test_nodes_go_first_to_members_under_their_target_and_about_evenly() -> None:
    nodes = [f"n{n}" for n in range(3000)]
    held = {"a": 5, "b": 0, "c": 0}
    target = {"a": 2, "b": 2, "c": 1}

    chosen = [first_claimant(node, held, target) for node in nodes]

    assert set(chosen) == {"b", "c"}
    assert 1350 <= chosen.count("b") <= 1650


def test_a_claimant_stays_the_same_when_another_member_comes() -> None:
    nodes = [f"n{n}" for n in range(100)]
    few, more = dict.fromkeys("abc", 0), dict.fromkeys("abcd", 0)

    changed = {
        second
        for node in nodes
        if (second := first_claimant(node, more, more)) != first_claimant(node, few, few)
    }

    assert changed == {"d"}


def test_a_share_of_the_addresses_is_free_or_there_is_none() -> None:
    assert free_share({0, 2}, 4, 0.0) == 1
    assert free_share({0, 2}, 4, 0.99) == 3
    assert free_share(set(range(4)), 4, 0.5) is None


def moved(held: dict[str, int], given: dict[str, list[str]]) -> dict[str, int]:
    """Return how many nodes each member holds after these gifts."""
    after = dict(held)
    for giver, to in given.items():
        for receiver in to:
            after[receiver] += 1
        if giver:
            after[giver] -= len(to)
    return after
