"""How often Python looks for garbage: seldom while a log is loaded, and as before when that
ends; and when freed memory is returned.
"""

import asyncio
import gc
import platform
import subprocess
import sys

import pytest

from runtime import garbage
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


async def test_freed_memory_is_returned_after_work_and_not_while_nothing_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = 0.0
    looks, returns = 0, 0

    def process_time() -> float:
        nonlocal looks
        looks += 1
        return used

    def note() -> None:
        nonlocal returns
        returns += 1

    monkeypatch.setattr(garbage, "RETURN_SECONDS", 0.001)
    monkeypatch.setattr(garbage.time, "process_time", process_time)
    monkeypatch.setattr(garbage, "return_freed_memory", note)
    returning = asyncio.create_task(garbage.keep_returning_memory())
    async with asyncio.timeout(20):
        while looks < 5:
            await asyncio.sleep(0.001)
        assert not returns
        used = garbage.BUSY_SECONDS + 1
        while looks < 15:
            await asyncio.sleep(0.001)
    assert returns == 1
    returning.cancel()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of the GNU C library alone")
def test_what_was_freed_between_things_that_stay_leaves_the_process() -> None:
    """In a process of its own: what others of this one have freed counts, too."""
    code = """
from pathlib import Path
from runtime.garbage import return_freed_memory

def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4

pieces = [bytes(30_000) for _ in range(2000)]
pieces = pieces[::50]
before = resident()
return_freed_memory()
print(before - resident())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) > 40_000
