"""A fair queue: which workspace may overtake, which has its turn, and that no message is offered
twice or lost.
"""

from hypothesis import given
from hypothesis import strategies as st

from runtime.bus.fairness.lanes import Lane
from runtime.bus.fairness.queue import FairQueue, Turn

EVENTS = "kb.v1.*.*.DocumentAdded"


def backlog(*workspaces: str) -> FairQueue:
    """A queue in which message n (from 1) is of the n-th workspace."""
    queue = FairQueue()
    for sequence, workspace in enumerate(workspaces, 1):
        queue.add(sequence, Lane(workspace), EVENTS)
    return queue


def test_a_workspace_behind_the_backlog_of_another_has_its_turn() -> None:
    queue = backlog(*"aaaaab")
    assert queue.take(10, 0.0, gap=3) == Turn(Lane("b"), EVENTS, [6])
    assert queue.take(10, 0.0, gap=3) is None, (
        "the workspace at the head is served by ordinary delivery"
    )


def test_a_workspace_that_is_about_to_be_delivered_does_not_overtake() -> None:
    assert backlog(*"aab").take(10, 0.0, gap=3) is None
    assert backlog(*"aaab").take(10, 0.0, gap=3) == Turn(Lane("b"), EVENTS, [4])


def test_workspaces_take_turns_however_much_each_has() -> None:
    queue = backlog(*"aaaaa", *"bbbb", "c")
    turns = [queue.take(2, 0.0, gap=3) for _ in range(4)]
    assert turns == [
        Turn(Lane("b"), EVENTS, [6, 7]),
        Turn(Lane("c"), EVENTS, [10]),
        Turn(Lane("b"), EVENTS, [8, 9]),
        None,
    ]


def test_delivered_messages_leave_the_queue_and_the_next_workspace_is_the_head() -> None:
    queue = backlog(*"aaaaa", *"bbbbb", *"ccc")
    queue.remove_delivered(5)
    assert queue.take(10, 0.0, gap=3) == Turn(Lane("c"), EVENTS, [11, 12, 13])
    assert queue.take(10, 0.0, gap=3) is None
    queue.remove_delivered(10)
    assert len(queue) == 0
    queue.add(9, Lane("b"), EVENTS)
    assert len(queue) == 0, "a message that was delivered meanwhile is not noted"


def test_a_turn_that_failed_is_offered_again_after_its_delay_and_holds_up_nobody() -> None:
    queue = backlog(*"aaaaa", *"bb", "c")
    turn = queue.take(10, 0.0, gap=3)
    assert turn == Turn(Lane("b"), EVENTS, [6, 7])
    assert turn is not None
    queue.put_back(turn, 5.0)
    assert queue.take(10, 1.0, gap=3) == Turn(Lane("c"), EVENTS, [8])
    assert queue.take(10, 1.0, gap=3) is None
    assert queue.take(10, 5.0, gap=3) == turn


def test_without_a_gap_each_workspace_has_a_turn_unless_it_is_served_elsewhere() -> None:
    queue = backlog(*"abab", "c")
    assert queue.take(10, 0.0, served_lanes={Lane("a")}) == Turn(Lane("b"), EVENTS, [2, 4])
    assert queue.take(10, 0.0, served_lanes={Lane("a")}) == Turn(Lane("c"), EVENTS, [5])
    assert queue.take(10, 0.0, served_lanes={Lane("a")}) is None
    assert queue.take(10, 0.0) == Turn(Lane("a"), EVENTS, [1, 3])


@given(st.lists(st.sampled_from("abcd"), max_size=60), st.integers(1, 8), st.integers(1, 5))
def test_every_message_is_offered_at_most_once_and_in_the_order_of_its_workspace(
    workspaces: list[str], gap: int, limit: int
) -> None:
    queue = backlog(*workspaces)
    offers: dict[str, list[int]] = {}
    while turn := queue.take(limit, 0.0, gap=gap):
        assert len(turn.sequences) <= limit
        offers.setdefault(turn.lane.workspace, []).extend(turn.sequences)
    sequences: dict[str, list[int]] = {}
    for sequence, workspace in enumerate(workspaces, 1):
        sequences.setdefault(workspace, []).append(sequence)
    waiting: list[int] = []
    heads: list[int] = []
    for workspace, all_sequences in sequences.items():
        offered_sequences = offers.get(workspace, [])
        assert offered_sequences == all_sequences[: len(offered_sequences)]
        remaining = all_sequences[len(offered_sequences) :]
        waiting += remaining
        heads += remaining[:1]
    assert len(queue) == len(waiting)
    # Only those at the head, or less than the gap behind it, were left to ordinary delivery.
    assert all(head - min(waiting) < gap for head in heads)
