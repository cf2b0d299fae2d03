"""The rules by which replicas share a provider: pure functions over one state."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from runtime.models import limits as rules
from runtime.models.limits import (
    FAILURES_TO_OPEN,
    LEASE_DURATION,
    PROBE_DURATION,
    Demand,
    Lease,
    Limits,
    ProviderState,
)

NOW = 1_900_000_000.0


def running(state: ProviderState) -> int:
    return sum(share.have for share in state.shares.values())


def fail(
    state: ProviderState, times: int = 1, *, at: float = NOW, retry_after: float | None = None
) -> None:
    for _ in range(times):
        rules.record_failure(state, "HTTP 500", retry_after, probing=False, now=at)


def test_one_replica_gets_all_calls_and_two_get_half_each_when_some_have_ended() -> None:
    state = ProviderState()
    assert rules.renew_lease(state, "a", 4, Demand(0, 9), NOW) == 4
    assert rules.renew_lease(state, "b", 4, Demand(0, 9), NOW) == 0
    assert rules.renew_lease(state, "a", 4, Demand(3, 9), NOW) == 2
    assert rules.renew_lease(state, "b", 4, Demand(0, 9), NOW) == 1
    assert rules.renew_lease(state, "a", 4, Demand(2, 9), NOW) == 2
    assert rules.renew_lease(state, "b", 4, Demand(1, 9), NOW) == 2
    assert running(state) == 4


def test_who_needs_little_leaves_the_rest_to_others() -> None:
    shares = {"a": Lease(want=1), "b": Lease(want=9), "c": Lease(want=2)}
    assert rules.fair_shares(8, shares) == {"a": 1, "b": 5, "c": 2}


def test_with_more_replicas_than_calls_those_that_waited_longest_come_first() -> None:
    shares = {
        "a": Lease(want=5, served=3.0),
        "b": Lease(want=5, served=1.0),
        "c": Lease(want=5, served=2.0),
    }
    assert rules.fair_shares(2, shares) == {"a": 0, "b": 1, "c": 1}


def test_the_share_of_a_silent_replica_comes_back_and_the_others_keep_theirs() -> None:
    state = ProviderState()
    rules.renew_lease(state, "killed", 4, Demand(0, 4), NOW)
    assert rules.renew_lease(state, "b", 4, Demand(0, 4), NOW + LEASE_DURATION - 0.1) == 0
    assert rules.renew_lease(state, "b", 4, Demand(0, 4), NOW + LEASE_DURATION) == 4


def test_a_lease_is_renewed_and_ends_when_nothing_runs() -> None:
    state = ProviderState()
    for second in range(60):
        rules.renew_lease(state, "a", 2, Demand(1, 0), NOW + second)
        assert rules.renew_lease(state, "b", 2, Demand(0, 5), NOW + second) == 1
    rules.renew_lease(state, "a", 2, Demand(), NOW + 60)
    assert state.shares.keys() == {"b"}


def test_without_a_limit_of_calls_replicas_are_known_all_the_same() -> None:
    state = ProviderState()
    assert rules.renew_lease(state, "a", 0, Demand(500, 500), NOW) == rules.UNLIMITED
    assert state.shares.keys() == {"a"}


steps = some.lists(
    some.tuples(
        some.sampled_from("abcd"),
        some.integers(0, 6),
        some.integers(0, 6),
        some.floats(0, LEASE_DURATION / 3),
        some.booleans(),
    ),
    max_size=60,
)


@given(steps, some.integers(1, 5))
def test_replicas_that_speak_up_never_have_more_calls_together_than_the_limit(
    steps: list[tuple[str, int, int, float, bool]], calls: int
) -> None:
    """Each step one replica ends calls, may begin new ones up to what it is allowed, and waits for
    more.
    """
    state = ProviderState()
    at = NOW
    under_way = dict.fromkeys("abcd", 0)
    for me, end_count, waiting, seconds, begins in steps:
        at += seconds
        for name in under_way:  # everybody renews in time
            rules.renew_lease(state, name, calls, Demand(under_way[name], 0), at)
        under_way[me] = max(0, under_way[me] - end_count)
        allowance = rules.renew_lease(state, me, calls, Demand(under_way[me], waiting), at)
        if begins:
            under_way[me] = max(under_way[me], min(allowance, under_way[me] + waiting))
        assert sum(under_way.values()) <= calls


@given(
    some.lists(
        some.tuples(some.floats(0, 20), some.integers(1, 40), some.integers(1, 300)), max_size=80
    )
)
def test_no_minute_holds_more_than_the_limits_wherever_it_begins(
    requests: list[tuple[float, int, int]],
) -> None:
    limits = Limits(requests=50, tokens=1000)
    state = ProviderState()
    at = NOW
    blocks: list[tuple[float, float, int, int]] = []
    for seconds, waiting, tokens in requests:
        at += seconds
        if block := rules.reserve(state, limits, Demand(0, waiting, tokens), at):
            assert block.requests >= 1
            assert block.tokens >= min(tokens, 1000)
            blocks.append((at, block.until, block.requests, block.tokens))
    for begin, *_ in blocks:
        for edge in (begin, begin - 30):
            inside = [entry for entry in blocks if entry[1] >= edge and entry[0] <= edge + 60]
            # Whatever of a block may have been used inside of this minute counts.
            assert sum(entry[2] for entry in inside) <= 50
            assert sum(entry[3] for entry in inside) <= 1000


def test_what_was_booked_and_not_used_can_be_booked_again() -> None:
    limits = Limits(requests=6000)
    state = ProviderState()
    block = rules.reserve(state, limits, Demand(0, 1, 0), NOW)
    assert block is not None
    assert block.requests == 100
    rules.release(state, block)
    assert sum(requests for requests, _ in state.booked.values()) == 0


def test_a_block_is_what_a_replica_may_use_in_a_second_or_what_waits() -> None:
    limits = Limits(requests=600)
    state = ProviderState(shares={"a": Lease(want=1), "b": Lease(want=1)})
    blocks = [rules.reserve(state, limits, Demand(0, waiting, 0), NOW) for waiting in (1, 30)]
    assert [block.requests for block in blocks if block] == [5, 30]


def test_a_call_with_more_tokens_than_a_minute_has_gets_the_whole_minute() -> None:
    limits = Limits(tokens=1000)
    state = ProviderState()
    assert rules.reserve(state, limits, Demand(0, 1, 5000), NOW)
    assert rules.reserve(state, limits, Demand(0, 1, 1), NOW + 30) is None
    assert rules.reserve(state, limits, Demand(0, 1, 1), NOW + 70)


def test_what_calls_cost_more_or_less_than_estimated_is_settled() -> None:
    limits = Limits(tokens=1000)
    state = ProviderState()
    block = rules.reserve(state, limits, Demand(0, 1, 400), NOW)
    assert block is not None
    rules.reconcile(state, {block.step: -300, block.step - 1000: -5, block.step + 1: 50})
    assert sum(tokens for _, tokens in state.booked.values()) == 150


def test_a_wait_that_was_asked_for_holds_for_everybody_and_is_over_by_itself() -> None:
    state = ProviderState(name="m")
    assert rules.record_failure(state, "slow down", 30.0, probing=False, now=NOW)
    assert rules.seconds_paused(state, NOW + 10) == 20
    rules.record_success(state, probing=False, now=NOW + 11)  # of a call that was under way
    assert rules.seconds_paused(state, NOW + 11) == 19
    assert "slow down" in (rules.pause_notice(state, NOW + 11) or "")
    assert rules.seconds_paused(state, NOW + 30) == 0
    assert rules.pause_notice(state, NOW + 30) is None
    assert not rules.start_probe(state, NOW + 30)


def test_failures_one_after_the_other_open_the_breaker_and_an_answer_forgets_them() -> None:
    state = ProviderState(name="m")
    fail(state, FAILURES_TO_OPEN - 1)
    assert rules.seconds_paused(state, NOW) == 0
    rules.record_success(state, probing=False, now=NOW)
    fail(state, FAILURES_TO_OPEN - 1)
    assert rules.seconds_paused(state, NOW) == 0
    fail(state)
    assert rules.seconds_paused(state, NOW) == rules.PROBE_INTERVALS[0]
    notice = rules.pause_notice(state, NOW)
    assert notice is not None
    assert "HTTP 500" in notice
    assert "2030-03-17T17:46:40+00:00" in notice


def test_an_outage_is_found_to_be_over_within_a_third_of_its_length_and_a_long_one_costs_few_probes() -> (  # noqa: E501
    None
):
    away = 0.0
    for number, interval in enumerate((*rules.PROBE_INTERVALS, *[rules.PROBE_INTERVALS[-1]] * 100)):
        away += interval
        assert number < 6 or interval <= away / 3
    assert sum(rules.PROBE_INTERVALS) < 130.0
    assert rules.PROBE_INTERVALS[-1] == 30.0


def test_calls_that_were_under_way_when_it_opened_do_not_lengthen_the_pause() -> None:
    state = ProviderState()
    fail(state, FAILURES_TO_OPEN + 20)
    assert rules.seconds_paused(state, NOW) == rules.PROBE_INTERVALS[0]
    fail(state, retry_after=50.0)
    assert rules.seconds_paused(state, NOW) == 50


def test_one_call_probes_at_growing_intervals_and_closes_the_breaker_when_it_is_answered() -> None:
    state = ProviderState(name="m")
    at = NOW
    waits = list[float]()
    fail(state, FAILURES_TO_OPEN)
    for _ in range(7):
        waits.append(rules.seconds_paused(state, at))
        at += waits[-1]
        assert rules.start_probe(state, at)
        assert not rules.start_probe(state, at)
        assert 0 < rules.seconds_paused(state, at) <= rules.PROBE_RECHECK
        assert "probing" in (rules.pause_notice(state, at) or "")
        rules.record_failure(state, "HTTP 500", None, probing=True, now=at)
    assert waits == [1, 1, 2, 2, 3, 3, 4]
    assert state.since == NOW
    at += 30
    assert rules.start_probe(state, at)
    rules.record_success(state, probing=True, now=at)
    assert rules.seconds_paused(state, at) == 0
    assert rules.pause_notice(state, at) is None


def test_a_probing_call_that_was_killed_is_followed_by_another() -> None:
    state = ProviderState()
    fail(state, FAILURES_TO_OPEN)
    assert rules.start_probe(state, NOW + 2)
    assert not rules.start_probe(state, NOW + 2 + PROBE_DURATION - 0.1)
    assert rules.start_probe(state, NOW + 2 + PROBE_DURATION)


def test_a_part_of_the_limits_is_never_nothing() -> None:
    assert Limits(requests=10, tokens=0, calls=2).per_replica(4) == Limits(
        requests=2, tokens=0, calls=1
    )


@pytest.mark.parametrize("text", ["{}", '{"name": "m", "of_a_newer_version": 1}'])
def test_a_state_of_another_version_can_be_read(text: str) -> None:
    assert ProviderState.model_validate_json(text).failures == 0


def test_a_state_survives_its_way_over_the_bus() -> None:
    state = ProviderState(name="m", booked={7: (1, 2)}, shares={"a": Lease(have=1)}, failures=2)
    assert ProviderState.model_validate_json(state.model_dump_json()) == state
