"""Dead letters as retries: the stage that has given up a message tries it again."""

from contracts import subjects
from contracts.events import RetryRequested
from contracts.topology import INTAKE_READER
from publishing.retries import last_failure, named_stage, request_retry
from runtime.bus.codec import header_of
from runtime.bus.dead_letters import DeadLetter, DeadLetters
from runtime.bus.port import Log
from runtime.errors import InvalidInput, Poison


async def redrive(
    letters: DeadLetters, log: Log, letter: DeadLetter, *, source: str, reason: str = ""
) -> int | None:
    """Have the stage try a whole letter's message again, take the letter off the list, return the
    request's sequence.

    None, and the letter stays, where its document has a newer version by now, or was deleted.
    Raises InvalidInput for a letter that names no document, `Unavailable`.
    """
    workspace, document = _document(letter)
    request = RetryRequested(document_id=document, stage=named_stage(letter.stage), reason=reason)
    sequence = await request_retry(log, workspace=workspace, retry=request, source=source)
    if sequence:
        await letters.remove(letter.number)
    return sequence


async def can_be_redriven(log: Log, letter: DeadLetter) -> bool:
    """Return whether `redrive` would have the whole letter's message tried again. Raises what
    `redrive` raises.
    """
    return await last_failure(log, *_document(letter)) is not None


def _document(letter: DeadLetter) -> tuple[str, str]:
    """Return workspace and id of the letter's document. Raises InvalidInput where there is none, or
    none is known.
    """
    if letter.consumer == "query-status":
        raise InvalidInput(
            f"dead letter {letter.number} changed no document: `lightstream rebuild status` "
            "reads the log anew"
        )
    if letter.consumer == INTAKE_READER.name:
        raise InvalidInput(
            f"dead letter {letter.number} is a file that was handed in: hand it in again"
        )
    try:
        workspace, document, _ = subjects.split(letter.subject)
    except ValueError:
        raise InvalidInput(
            f"dead letter {letter.number} stands at no event's subject: {letter.subject!r:.80}"
        ) from None
    try:
        header, _ = header_of(letter.data, {})
    except Poison:
        header = None
    if header and subjects.token(header.workspace) == workspace:
        workspace = header.workspace
    if header and header.subject and subjects.token(header.subject) == document:
        document = header.subject
    if workspace.startswith("x-") or document.startswith("x-"):
        raise InvalidInput(
            f"dead letter {letter.number} names its document by a hash only: publish the "
            "event again"
        )
    return workspace, document
