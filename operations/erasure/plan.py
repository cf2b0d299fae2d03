"""What an erasure removes from the bus: found from the document's own events, without removing
anything.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nats.js import JetStreamContext

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import (
    GRAPH,
    DescriptionSummarized,
    DocumentAdded,
    DocumentErased,
    EntitiesExtracted,
    Event,
    FeedbackGiven,
    GoldenQuestionSet,
    GraphMerged,
    StageFailed,
)
from contracts.ids import UNKNOWN_SOURCE, pair
from contracts.topology import PARKED_STREAM
from contracts.values import BlobRef
from operations.erasure.answers import AnsweredWords, answered_words
from runtime.bus.codec import decode
from runtime.bus.nats.connection import translated
from runtime.bus.nats.dead_letters import NatsDeadLetters
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Message
from runtime.bus.records import leaf, record_of
from runtime.errors import ServiceError

Key = tuple[str, ...]
"""One name, or the two names of a relation, sorted."""


@dataclass(frozen=True)
class DocumentHistory:
    """What the log holds of one document: its events, and what they say of other places where it
    is.
    """

    workspace: str
    id: str
    leaves: Mapping[int, str] = field(default_factory=dict[int, str])
    """Of each event its leaf in the hash chain, by sequence."""
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """Events by type."""
    blobs: Mapping[str, BlobRef] = field(default_factory=dict[str, BlobRef])
    """Its long texts and originals, by the key of each."""
    keys: frozenset[Key] = frozenset()
    """The entities and relations that it says something of."""
    names: frozenset[str] = frozenset()
    """Its id, and the file names that it had, in lower case."""
    tombstones: tuple[DocumentErased, ...] = ()
    """What earlier erasures left, oldest first."""

    @property
    def first(self) -> int:
        """Return the first sequence that may hold anything that was made of it."""
        listed_sequences = [
            event.sequence for tombstone in self.tombstones for event in tombstone.erased
        ]
        return min([*self.leaves, *listed_sequences], default=1)

    @property
    def unfinished(self) -> bool:
        """Return whether an erasure of it began and was not finished."""
        return bool(self.tombstones) and self.tombstones[-1].receipt is None

    @property
    def is_erased(self) -> bool:
        """Return whether an erasure of it was finished, and nothing of it came later."""
        return bool(self.tombstones) and not self.unfinished and not self.leaves


@dataclass(frozen=True)
class ErasurePlan:
    """What is to be removed from the bus for one document. The other stores are made anew from what
    is left.

    `derived_leaves`: of events elsewhere in the log that were made of the document;
    `question_leaves`: of golden questions and feedback that name it; `answers`: receipts with words
    of it, which are written anew; `letters`, `parked_subjects`: sequences in KB_DEAD and KB_PARKED;
    `shared_blobs`: blobs of it that another document has too, which stay.
    """

    history: DocumentHistory
    derived_leaves: Mapping[int, str] = field(default_factory=dict[int, str])
    question_leaves: Mapping[int, str] = field(default_factory=dict[int, str])
    letters: Sequence[int] = ()
    parked_subjects: Sequence[str] = ()
    blobs: Sequence[BlobRef] = ()
    shared_blobs: Sequence[BlobRef] = ()
    answers: AnsweredWords | None = None

    @property
    def answer_leaves(self) -> dict[int, str]:
        """Return the leaves of receipts to be removed, by sequence."""
        return self.answers.leaves if self.answers else {}

    @property
    def leaves(self) -> dict[int, str]:
        """Return the leaves of all events to be removed, by sequence."""
        return {
            **self.history.leaves,
            **self.derived_leaves,
            **self.question_leaves,
            **self.answer_leaves,
        }

    def counts(self) -> dict[str, int]:
        """Return how much is removed, by store."""
        return {
            "events": len(self.history.leaves),
            "summaries_and_merges": len(self.derived_leaves),
            "golden_questions_and_feedback": len(self.question_leaves),
            "answers": len(self.answer_leaves),
            "blobs": len(self.blobs),
            "dead_letters": len(self.letters),
            "parked": len(self.parked_subjects),
        }


def read_history(workspace: str, id: str, messages: Iterable[Message]) -> DocumentHistory:
    """Return what these messages of the document's subject tell. Those that nobody can read are
    counted as such.
    """
    leaves: dict[int, str] = {}
    counts = Counter[str]()
    blobs = dict[str, BlobRef]()
    keys = set[Key]()
    names = {id.casefold()}
    tombstones: list[DocumentErased] = []
    for message in messages:
        envelope = _decoded(message)
        event = envelope.data if envelope else None
        if isinstance(event, DocumentErased):
            tombstones.append(event)
            continue
        leaves[message.sequence] = leaf(record_of(message))
        counts[event.type_name() if event else "unreadable"] += 1
        if isinstance(event, DocumentAdded):
            blobs |= {ref.key: ref for ref in event.blobs}
        if isinstance(event, DocumentAdded):
            names |= file_names(event.file_path)
        if event:
            keys |= keys_of(event)
    return DocumentHistory(
        workspace,
        id,
        leaves,
        counts,
        blobs,
        frozenset(keys),
        frozenset(names),
        tuple(tombstones),
    )


def file_names(path: str) -> set[str]:
    """Return the path and the last part of it as they are compared; none of a document without
    one.
    """
    folded_path = path.casefold()
    return (
        {folded_path, folded_path.rsplit("/", 1)[-1]} if path and path != UNKNOWN_SOURCE else set()
    )


def names_document(event: Event, names: Collection[str], feedback_ids: Collection[str]) -> bool:
    """Return whether a golden question or feedback names the document, or is made of feedback that
    does.
    """
    if isinstance(event, FeedbackGiven):
        cited_names = {
            name for document in event.documents for name in file_names(document.file_path)
        }
        cited_names |= {document.id.casefold() for document in event.documents}
        return not cited_names.isdisjoint(names)
    if isinstance(event, GoldenQuestionSet):
        expected_names = {document.casefold() for document in event.expected.documents}
        return event.feedback in feedback_ids or not expected_names.isdisjoint(names)
    return False


def keys_of(event: Event) -> set[Key]:
    """Return the entities and relations that an extraction or a merge names."""
    if isinstance(event, EntitiesExtracted | GraphMerged):
        return {(entity.name,) for entity in event.entities} | {
            pair(relation.source, relation.target) for relation in event.relations
        }
    return set()


def is_derived(
    envelope: Envelope[Event], summaries_of: Collection[str], summary_ids: Collection[str]
) -> bool:
    """Return whether an event that is not the document's own was made of what it said.

    That is a summary of a thing the document says something of (`summaries_of`: their aggregate
    ids), a failure of one, and what the graph merged because of it. What people edited is not, nor
    what follows of that.
    """
    event = envelope.data
    if isinstance(event, DescriptionSummarized | StageFailed):
        return event.aggregate_id in summaries_of
    return isinstance(event, GraphMerged) and envelope.causationid in summary_ids


async def plan_erasure(bus: JetStreamContext, workspace: str, id: str) -> ErasurePlan:
    """Return what the bus holds of this document. Raises Unavailable."""
    log = NatsLog(bus, with_misplaced=True)
    messages = [
        message
        async for page in log.read(0, [subjects.of_document(workspace, id)])
        for message in page
    ]
    history = read_history(workspace, id, messages)
    derived_leaves = await _derived(log, history)
    question_leaves = await _of_questions(log, history)
    answers = await answered_words(log, workspace, id, history.keys, history.first - 1)
    elsewhere = {*derived_leaves, *question_leaves, *answers.leaves}
    needed_keys = await _blobs_of_others(log, history) if history.blobs else set[str]()
    return ErasurePlan(
        history,
        derived_leaves,
        question_leaves,
        await _letters(bus, history, elsewhere),
        await _parked(bus, workspace, {*history.leaves, *derived_leaves}),
        [blob for key, blob in history.blobs.items() if key not in needed_keys],
        [blob for key, blob in history.blobs.items() if key in needed_keys],
        answers,
    )


async def _derived(log: NatsLog, history: DocumentHistory) -> dict[int, str]:
    """Return the leaves of what stands elsewhere in the log; nothing made of a document is older
    than it.
    """
    summaries_of = {
        DescriptionSummarized(
            key=key, inputs_hash="0" * 64, prompt_version="", model="", text=""
        ).aggregate_id
        for key in history.keys
    }
    workspace = history.workspace
    summary_ids = set[str]()
    derived_leaves = dict[int, str]()
    filters = [
        subjects.of_type_in(workspace, DescriptionSummarized.type_name()),
        subjects.of_type_in(workspace, StageFailed.type_name()),
        subjects.subject(workspace, GRAPH, GraphMerged.type_name()),
    ]
    async for page in log.read(history.first - 1, filters):
        for message in page:
            envelope = _decoded(message)
            if (
                envelope
                and message.sequence not in history.leaves
                and is_derived(envelope, summaries_of, summary_ids)
            ):
                derived_leaves[message.sequence] = leaf(record_of(message))
                summary_ids.add(envelope.id)
    return derived_leaves


async def _of_questions(log: NatsLog, history: DocumentHistory) -> dict[int, str]:
    """Return the leaves of feedback and golden questions that name the document: what they quote
    may be its own words. A golden question may be older than the document.
    """
    leaves: dict[int, str] = {}
    feedback_ids = set[str]()
    for kind in (FeedbackGiven, GoldenQuestionSet):
        subject = subjects.of_type_in(history.workspace, kind.type_name())
        async for page in log.read(0, [subject]):
            for message in page:
                envelope = _decoded(message)
                if envelope and names_document(envelope.data, history.names, feedback_ids):
                    leaves[message.sequence] = leaf(record_of(message))
                    if kind is FeedbackGiven:
                        feedback_ids.add(envelope.id)
    return leaves


async def _blobs_of_others(log: NatsLog, history: DocumentHistory) -> set[str]:
    """Return the keys of the document's blobs that another document still names."""
    needed_keys: set[str] = set()
    async for page in log.read(0, [subjects.of_type(DocumentAdded.type_name())]):
        for message in page:
            envelope = _decoded(message) if message.sequence not in history.leaves else None
            if envelope and isinstance(envelope.data, DocumentAdded):
                needed_keys |= {ref.key for ref in envelope.data.blobs}
    return needed_keys & history.blobs.keys()


async def _letters(
    bus: JetStreamContext, history: DocumentHistory, derived_sequences: Collection[int]
) -> list[int]:
    """Return the numbers of the dead letters about the document, by the subject of the message that
    was given up.
    """
    prefix = subjects.of_document(history.workspace, history.id).removesuffix("*")
    return [
        letter.number
        for letter in await NatsDeadLetters(bus, max_letters=None).headers()
        if letter.subject.startswith(prefix) or letter.sequence in derived_sequences
    ]


async def _parked(bus: JetStreamContext, workspace: str, sequences: Collection[int]) -> list[str]:
    """Return the subjects of parked records of these events. A record has no text, but names what
    is erased.
    """
    parked_filter = subjects.parked(workspace=subjects.token(workspace))
    with translated():
        info = await bus.stream_info(PARKED_STREAM, subjects_filter=parked_filter)
    return [
        subject
        for subject in info.state.subjects or {}
        if int(subject.rpartition(".")[2]) in sequences
    ]


def _decoded(message: Message) -> Envelope[Event] | None:
    try:
        return decode(message.data, message.subject, message.headers)
    except ServiceError:
        return None
