"""How often Python looks for garbage: seldom while a log is loaded, and as before when that
ends.
"""

import gc

import pytest

from runtime.garbage import BULK_OBJECTS, OBJECTS, collecting_seldom


def test_while_a_log_is_loaded_a_group_of_events_is_not_looked_at_again_and_again() -> None:
    with collecting_seldom():
        assert gc.get_threshold()[0] == BULK_OBJECTS > OBJECTS


def test_afterwards_it_looks_as_often_as_before_even_after_an_error() -> None:
    before = gc.get_threshold()
    frozen = gc.get_freeze_count()
    with pytest.raises(ValueError, match="stop"), collecting_seldom():
        raise ValueError("stop")
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() <= frozen
