"""Dead letters as callers of the API see them: those of their workspace, or all of the
deployment.
"""

from collections.abc import Sequence

from contracts import subjects
from publishing.redriving import redrive
from publishing.retries import named_stage
from runtime.bus.dead_letters import DeadLetter, DeadLetters, drop
from runtime.bus.port import Log
from runtime.errors import NotFound
from services.query.event_source import SOURCE


async def list_letters(
    letters: DeadLetters, workspace: str | None, stage: str | None
) -> list[DeadLetter]:
    """Return the dead letters of a workspace (None: of all), and of one stage or of all, newest
    first.

    Raises InvalidInput for a stage that there is none of, `Unavailable`.
    """
    named_stage(stage)
    own_letters = [letter for letter in await letters.headers() if _is_of(letter, workspace)]
    return [letter for letter in reversed(own_letters) if stage in (None, letter.stage)]


async def read_letters(
    letters: DeadLetters, workspace: str | None, numbers: Sequence[int]
) -> list[DeadLetter]:
    """Return these letters whole. Raises NotFound where one is not there, or of another workspace;
    `Unavailable`.
    """
    chosen_letters: list[DeadLetter] = []
    for number in numbers:
        letter = await letters.get(number)
        if letter is None or not _is_of(letter, workspace):
            raise NotFound(f"there is no dead letter {number} here")
        chosen_letters.append(letter)
    return chosen_letters


async def redrive_letters(
    letters: DeadLetters, log: Log, workspace: str | None, numbers: Sequence[int], reason: str
) -> list[int]:
    """Try these letters' messages again, and return the numbers of those that stay because they are
    obsolete.

    Raises what `read_letters` raises before anything is tried, and InvalidInput for a letter that
    names no document.
    """
    obsolete: list[int] = []
    for letter in await read_letters(letters, workspace, numbers):
        if not await redrive(letters, log, letter, source=SOURCE, reason=reason):
            obsolete.append(letter.number)
    return obsolete


async def drop_letters(
    letters: DeadLetters, workspace: str | None, numbers: Sequence[int]
) -> list[DeadLetter]:
    """Remove these letters for good, and return them. Raises what `read_letters` raises, before any
    is removed.
    """
    chosen_letters = await read_letters(letters, workspace, numbers)
    await drop(letters, numbers)
    return chosen_letters


def _is_of(letter: DeadLetter, workspace: str | None) -> bool:
    return workspace is None or letter.workspace == subjects.token(workspace)
