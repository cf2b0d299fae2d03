"""The golden questions of a workspace, folded from its log: the newest event of each id counts."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from contracts import subjects
from contracts.envelope import Envelope, wrap
from contracts.events import (
    Event,
    FeedbackGiven,
    GoldenQuestionRemoved,
    GoldenQuestionSet,
    GoldenRunEnded,
)
from contracts.ids import sha256
from contracts.names import fold
from contracts.partitions import first_sequence, partition_at
from runtime.bus.codec import decode
from runtime.bus.feed.newest import newest_first
from runtime.bus.feed.port import EventPages
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log, Message
from runtime.errors import InvalidInput, NewerVersion, Poison

STRETCH = 10_000
"""Sequences of the log in which the newest runs are looked for at first."""

MAX_QUESTIONS = 1000
"""Golden questions of one workspace."""


@dataclass(frozen=True)
class GoldenQuestion:
    """A golden question as it counts now, with its sequence, and when and by whom it was set."""

    event: GoldenQuestionSet
    sequence: int
    at: datetime
    actor: str

    @property
    def id(self) -> str:
        """Return its id."""
        return self.event.id


@dataclass(frozen=True)
class GoldenRun:
    """A run as the log has it, with its sequence, and when and in whose name it was made."""

    id: str
    event: GoldenRunEnded
    sequence: int
    at: datetime
    actor: str


@dataclass(frozen=True)
class Feedback:
    """What somebody thinks of an answer, with the id by which it is named."""

    id: str
    event: FeedbackGiven
    at: datetime
    actor: str


def question_id(question: str) -> str:
    """Return the id of a question for which nobody chose one: the same for the same words."""
    return f"gq-{sha256(fold(question))[:12]}"


async def read_questions(log: Log, workspace: str) -> list[GoldenQuestion]:
    """Return the golden questions of a workspace in the order in which they were first set. Raises
    `Unavailable`.
    """
    questions: dict[str, GoldenQuestion] = {}
    removals = {
        envelope.data.id: message.sequence
        async for message, envelope in _events(log, workspace, GoldenQuestionRemoved)
        if isinstance(envelope.data, GoldenQuestionRemoved)
    }
    async for message, envelope in _events(log, workspace, GoldenQuestionSet):
        event = envelope.data
        if isinstance(event, GoldenQuestionSet) and message.sequence > removals.get(event.id, 0):
            at = envelope.time or message.published_at
            actor = envelope.actor or ""
            questions[event.id] = GoldenQuestion(event, message.sequence, at, actor)
    return list(questions.values())


async def set_questions(
    log: Log, workspace: str, events: Sequence[GoldenQuestionSet], source: str
) -> list[str]:
    """Publish what is not set already, and return the ids of that.

    Raises InvalidInput where the workspace would have too many, `Unavailable`.
    """
    existing = {question.id: question.event for question in await read_questions(log, workspace)}
    if len(existing.keys() | {event.id for event in events}) > MAX_QUESTIONS:
        raise InvalidInput(
            f"a workspace has at most {MAX_QUESTIONS:,} golden questions; remove some first"
        )
    changed_ids: list[str] = []
    for event in events:
        if existing.get(event.id) != event:
            await publish(log, workspace, event, source)
            existing[event.id] = event
            changed_ids.append(event.id)
    return changed_ids


async def remove_question(log: Log, workspace: str, id: str, reason: str, source: str) -> bool:
    """Publish that the question is not asked any more; False where there is none. Raises
    `Unavailable`.
    """
    if all(question.id != id for question in await read_questions(log, workspace)):
        return False
    await publish(log, workspace, GoldenQuestionRemoved(id=id, reason=reason), source)
    return True


async def last_runs(log: Log, workspace: str) -> AsyncGenerator[GoldenRun]:
    """Yield the runs of a workspace, the newest first, out of a log that is only read forwards: of
    longer and longer stretches from its end. Raises `Unavailable`.
    """
    kind = GoldenRunEnded.type_name()
    end = await log.end_of(workspace)
    partition_begin = first_sequence(partition_at(end)) - 1
    step = STRETCH
    while end > 0:
        # What stands in front of the partition is of a workspace that was moved: it is one stretch.
        begin = max(partition_begin, end - step) if end > partition_begin else 0
        runs: list[GoldenRun] = []
        async with aclosing(log.history(workspace, None, kind, begin)) as messages:
            async for message in messages:
                if message.sequence > end:
                    break
                if run := _run(message):
                    runs.append(run)
        for run in reversed(runs):
            yield run
        end = begin
        step *= 8


async def last_live_run(log: Log, workspace: str) -> GoldenRun | None:
    """Return the newest run of what was live; None without any. Raises `Unavailable`."""
    async with aclosing(last_runs(log, workspace)) as runs:
        async for run in runs:
            if run.event.is_of_live:
                return run
    return None


async def newest_runs(feed: EventPages, workspace: str) -> AsyncGenerator[GoldenRun]:
    """Yield the runs of a workspace, the newest first, and read no others. Raises `Unavailable`."""
    subject = subjects.of_type_in(workspace, GoldenRunEnded.type_name())
    async with aclosing(newest_first(feed, subject)) as messages:
        async for message in messages:
            if run := _run(message):
                yield run


async def newest_feedback(feed: EventPages, workspace: str) -> AsyncGenerator[Feedback]:
    """Yield what people think of answers, the newest first, and read no more. Raises
    `Unavailable`.
    """
    subject = subjects.of_type_in(workspace, FeedbackGiven.type_name())
    async with aclosing(newest_first(feed, subject)) as messages:
        async for message in messages:
            envelope = _decoded(message)
            if envelope and isinstance(envelope.data, FeedbackGiven):
                at = envelope.time or message.published_at
                yield Feedback(envelope.id, envelope.data, at, envelope.actor or "")


def _run(message: Message) -> GoldenRun | None:
    """Return the run that a message is, None for any other."""
    envelope = _decoded(message)
    if envelope is None or not isinstance(envelope.data, GoldenRunEnded):
        return None
    at = envelope.time or message.published_at
    return GoldenRun(envelope.id, envelope.data, message.sequence, at, envelope.actor or "")


async def publish(log: Log, workspace: str, event: Event, source: str) -> str:
    """Publish an event about questions, in the name of who acts now, and return its id. Raises
    `Unavailable`.
    """
    envelope: Envelope[Event] = wrap(
        event,
        id=str(uuid4()),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    await log.publish(envelope)
    return envelope.id


async def _events(
    log: Log, workspace: str, kind: type[Event]
) -> AsyncGenerator[tuple[Message, Envelope[Event]]]:
    """Yield the events of one type in the workspace, without those that cannot be read."""
    async with aclosing(log.history(workspace, None, kind.type_name())) as messages:
        async for message in messages:
            if envelope := _decoded(message):
                yield message, envelope


def _decoded(message: Message) -> Envelope[Event] | None:
    """Return the event of a message, None where it cannot be read."""
    try:
        return decode(message.data, message.subject, message.headers)
    except (Poison, NewerVersion):
        return None
