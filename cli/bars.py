"""Progress as a person sees it: bars with counts and time left on a terminal, plain lines anywhere
else.
"""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from cli.common import interactive, note
from operations.progress import Stage

LINE_INTERVAL = 3.0
"""Seconds between two plain lines, at least."""

Show = Callable[[Sequence[Stage]], None]


@contextmanager
def progress_bars(*, is_hidden: bool = False) -> Generator[Show]:
    """A function that takes the present counts of all stages."""
    if is_hidden:
        yield lambda _: None
    elif interactive():
        with _terminal() as show:
            yield show
    else:
        yield _lines()


@contextmanager
def _terminal() -> Generator[Show]:
    # Plain lines need none of it.
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("  {task.description:<10}"),
        BarColumn(bar_width=40),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns) as progress:
        tasks: dict[str, TaskID] = {}

        def show(stages: Sequence[Stage]) -> None:
            for stage in stages:
                if stage.name not in tasks:
                    tasks[stage.name] = progress.add_task(stage.name, total=None)
                progress.update(tasks[stage.name], completed=stage.done, total=stage.total or None)

        yield show


def _lines() -> Show:
    shown_at, shown_line = 0.0, ""

    def show(stages: Sequence[Stage]) -> None:
        nonlocal shown_at, shown_line
        line = "  " + ", ".join(f"{stage.name} {stage.done}/{stage.total}" for stage in stages)
        complete = all(stage.total and stage.done >= stage.total for stage in stages)
        if line != shown_line and (complete or time.monotonic() - shown_at >= LINE_INTERVAL):
            note(line)
            shown_at, shown_line = time.monotonic(), line

    return show
