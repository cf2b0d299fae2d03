"""Failures are counted by cause, and who fails may have a share of the window."""

from runtime.bus.attempts import Attempts, Pace, WindowShare


def test_failures_are_counted_by_thing_and_by_cause() -> None:
    attempts = Attempts()
    assert [attempts.add("a", "retry") for _ in range(3)] == [1, 2, 3]
    assert (attempts.add("a", "bug"), attempts.add("b", "retry")) == (1, 1)
    assert attempts.of("a") == {"retry": 3, "bug": 1}
    attempts.forget("a")
    assert (attempts.of("a"), attempts.add("a", "retry")) == ({}, 1)


def test_what_another_process_counted_is_taken_over_once() -> None:
    attempts = Attempts()
    attempts.restore("a", {"retry": 7})
    attempts.restore("a", {"retry": 3})
    assert attempts.add("a", "retry") == 8


def test_the_count_is_bounded_and_the_longest_untouched_is_forgotten_first() -> None:
    attempts = Attempts(max_items=3)
    for name in "abca":
        attempts.add(name, "bug")
    attempts.add("d", "bug")
    assert [name for name in "abcd" if attempts.of(name)] == ["a", "c", "d"]


def test_a_workspace_has_an_eighth_of_the_window_for_what_fails() -> None:
    share = WindowShare(64)
    for sequence in range(8):
        assert not share.exceeded("w", sequence)
        share.refused("w", sequence, 5.0)
    assert share.exceeded("w", 8)
    assert not share.exceeded("w", 3), "a message that has a place keeps it"
    assert not share.exceeded("other", 8)
    share.settled("w", 0)
    assert not share.exceeded("w", 8)


def test_all_workspaces_together_have_half_of_it() -> None:
    share = WindowShare(64)
    for number in range(32):
        share.refused(f"w{number}", number, 5.0)
    assert share.exceeded("quiet", 99)


def test_what_went_to_another_replica_takes_no_place_here() -> None:
    share = WindowShare(64)
    for sequence in range(8):
        share.refused("w", sequence, -WindowShare.OVERDUE)
    assert not share.exceeded("w", 8)


def test_a_pace_lets_so_many_through_and_no_more() -> None:
    pace = Pace(per_second=0.001, burst=3)
    assert [pace.allows() for _ in range(5)] == [True, True, True, False, False]
