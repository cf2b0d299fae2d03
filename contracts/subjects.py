"""Subjects: `kb.v1.<workspace>.<document>.<EventType>`, so one document's history can be read, and
erased.

Who builds or takes apart a subject of the log does it here, so that the layout has one home.

A token is `[a-z0-9_-]`, at most 64 long; any other name stands there as `x-` and half its SHA-256.
The envelope carries the name itself, and the event processor refuses an event whose workspace
differs from its subject's.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from contracts.ids import sha256

PREFIX = "kb.v1"
ALL = f"{PREFIX}.*.*.*"
PROBE = "kb.probe"
"""Subject to test whether the log accepts writes after one was not answered. No durable consumes
it.
"""

INTAKE = "kb.in"
"""Where systems hand in files as bytes, behind it the workspace's token; `lightstream intake` reads
it.
"""

REBUILDS = "operator.rebuild"
"""Subject of orders for rebuilds, and of questions which one is under way: an operator process
answers them.
"""

QUESTIONS = "x-questions"
"""Token in place of the workspace's, which then comes behind it, in the subject of what is said
about questions: what they cost, their
answers, golden questions and their runs, feedback; and of how far sources are read.

No workspace has it. So what reads the events of a workspace to see what changed meets none of its
questions.
"""

APART = (
    "QuestionsCharged",
    "AnswerGiven",
    "GoldenQuestionSet",
    "GoldenQuestionRemoved",
    "GoldenRunEnded",
    "FeedbackGiven",
    "SourceSynced",
    "SourceSet",
)
"""Types of the events on such subjects."""

ALL_QUESTIONS = f"{PREFIX}.{QUESTIONS}.>"
"""Filter of all of these."""

GAP = f"{PREFIX}.x-gap.x-gap.Gap"
"""Subject of the messages that stand for sequences without one until a restore is done."""

MAPPING_TRIAL = f"{PREFIX}.x-mapping.x-mapping.Mapping"
"""Subject that is published, where no stream listens yet, to see whether the server maps it."""

SHARED = ("EntitiesExtracted", "GraphMerged", "VectorsIndexed")
"""Types of what services make of a document. In the log documents share subjects for them, of which
each has a hash of the document's token in place of that: nobody asks for the newest of these about
one, and the server's memory would grow with every document and type. The subject of such an event
is what it always was, for whoever publishes or reads it by `Log`.
"""

DOCUMENT_HEADER = "Kb-Document"
"""Header of an event at a shared subject: the token of its document, which is a part of its address
there, and not of the event.
"""

_TOKEN = re.compile(r"(?!x-)[a-z0-9_-]{1,64}")
_HASHED_TOKEN = re.compile(r"x-[0-9a-f]{32}")
_BUCKET_DIGITS = 3
"""Hexadecimal digits of the hash in a shared subject: a workspace has 4,096 of them for a type, and
no name has a token like that.
"""


@lru_cache(maxsize=16_384)  # asked several times for each event of a document
def token(name: str) -> str:
    """Return the subject token of a workspace or a document: the name, or its hash."""
    return name if _TOKEN.fullmatch(name) else "x-" + sha256(name)[:32]


def is_token(text: str) -> bool:
    """Return whether a text is the token of a name."""
    return bool(_TOKEN.fullmatch(text) or _HASHED_TOKEN.fullmatch(text))


def subject(workspace: str, about: str, event_type: str) -> str:
    """Return the subject of an event about the aggregate `about`."""
    if event_type in APART:
        return f"{PREFIX}.{QUESTIONS}.{token(workspace)}.{event_type}"
    return f"{PREFIX}.{token(workspace)}.{token(about)}.{event_type}"


def subject_in(workspace_token: str, about: str, event_type: str) -> str:
    """Return the subject of an event about the aggregate `about` of the workspace with this token,
    whose name is not known.
    """
    return f"{PREFIX}.{workspace_token}.{token(about)}.{event_type}"


def of_type(event_type: str) -> str:
    """Return the filter for all events of one type."""
    return f"{PREFIX}.*.*.{event_type}"


def of_workspace(workspace: str) -> str:
    """Return the filter for all events of one workspace."""
    return f"{PREFIX}.{token(workspace)}.*.*"


def of_token(workspace_token: str) -> list[str]:
    """Return the filters for all events of the workspace with this token, what is about its
    questions, too.
    """
    return [f"{PREFIX}.{workspace_token}.*.*", f"{PREFIX}.{QUESTIONS}.{workspace_token}.*"]


def of_document(workspace: str, document_id: str) -> str:
    """Return the filter for one document's whole history."""
    return f"{PREFIX}.{token(workspace)}.{token(document_id)}.*"


def of_type_in(workspace: str, event_type: str, about: str | None = None) -> str:
    """Return the filter for all events of one type in one workspace, or for those about one
    aggregate.

    Subjects apart do not say what their events are about.
    """
    if event_type in APART:
        return f"{PREFIX}.{QUESTIONS}.{token(workspace)}.{event_type}"
    return f"{PREFIX}.{token(workspace)}.{'*' if about is None else token(about)}.{event_type}"


def is_event(subject: str) -> bool:
    """Return whether a subject of a stream of the log is one of events, and not a trial's."""
    return subject.startswith(f"{PREFIX}.")


def event_type(subject: str) -> str:
    """Return the type of the events of a subject or of a filter."""
    return subject.rpartition(".")[2]


def is_apart(subject: str) -> bool:
    """Return whether a subject is one apart, of what is about questions."""
    return subject.startswith(f"{PREFIX}.{QUESTIONS}.")


def probe(partition: int) -> str:
    """Return the subject to test whether a partition of the log accepts writes."""
    return f"{PROBE}.{partition}" if partition else PROBE


def intake(workspace: str) -> str:
    """Return the subject on which files of a workspace are handed in."""
    return f"{INTAKE}.{token(workspace)}"


def narrowed(filter: str, workspace: str) -> str:
    """Narrow a filter of all workspaces to the workspace with this token."""
    head, _, tail = filter.removeprefix(f"{PREFIX}.").partition(".")
    assert head == "*", filter
    return f"{PREFIX}.{workspace}.{tail}"


def parked(durable: str = "*", workspace: str = "*", sequence: int | str = "*") -> str:
    """Return the subject of a parked event's record; omitted parts match any. `workspace` is a
    token.
    """
    return f"parked.{durable}.{workspace}.{sequence}"


def split(subject: str) -> tuple[str, str, str]:
    """Return (workspace token, document token, event type). Raises ValueError on any other
    subject.
    """
    parts = subject.split(".")
    if len(parts) != 5 or ".".join(parts[:2]) != PREFIX:
        raise ValueError(
            f"subject {subject!r:.120} is not {PREFIX}.<workspace>.<document>.<EventType>"
        )
    return parts[2], parts[3], parts[4]


def addressed(subject: str) -> tuple[str, str | None, str]:
    """Return the tokens of workspace and document that the event must have, and its type. Raises as
    `split` does.

    None for the document: the subject does not say it.
    """
    workspace, about, event_type = split(subject)
    return (
        (about, None, event_type)
        if workspace == QUESTIONS and event_type in APART
        else (workspace, about, event_type)
    )


def workspace_in_filter(filter: str) -> str | None:
    """Return the token of the only workspace whose events pass a filter; None where others' do."""
    tokens = filter.split(".")
    place = 3 if len(tokens) > 3 and tokens[2] == QUESTIONS else 2
    token = tokens[place] if len(tokens) > place else ""
    return token if filter.startswith(f"{PREFIX}.") and token not in {"", "*", ">"} else None


def workspace_token(subject: str) -> str:
    """Return the token of the workspace; empty where the subject has none."""
    tokens = subject.split(".")
    return tokens[2] if len(tokens) > 2 else ""


def document_token(subject: str) -> str:
    """Return the token of the document, or of what else the event is about; empty where there is
    none.
    """
    tokens = subject.split(".", 4)
    return tokens[3] if len(tokens) > 4 else ""


@lru_cache(maxsize=16_384)
def _bucket(document: str) -> str:
    """Return what stands in a shared subject for the document with this token."""
    return f"x-{sha256(document)[:_BUCKET_DIGITS]}"


def shared(subject: str) -> str:
    """Return the shared subject at which the log may hold an event of this one, or the subject
    itself where there is none.

    Of a filter: that of the shared subjects of its document.
    """
    tokens = subject.split(".")
    if len(tokens) != 5 or tokens[2] == QUESTIONS or not is_token(tokens[3]):
        return subject
    if tokens[4] not in (*SHARED, "*"):
        return subject
    return ".".join((*tokens[:3], _bucket(tokens[3]), tokens[4]))


def of_shared(stored: str, document: str) -> str:
    """Return the subject of the event that stands at a shared subject with this document in its
    header. Any other subject is returned as it is, and so is one that the document does not share.
    """
    head, _, event_type = stored.rpartition(".")
    if event_type not in SHARED or not is_token(document):
        return stored
    workspace_part, _, bucket = head.rpartition(".")
    return f"{workspace_part}.{document}.{event_type}" if bucket == _bucket(document) else stored


def with_shared(filters: Sequence[str]) -> list[str]:
    """Return filters through which everything comes that passes these, wherever the log holds it;
    what else comes through is of documents that share a subject with one of these.
    """
    return [*dict.fromkeys(held for filter in filters for held in (filter, shared(filter)))]


def passes(subject: str, filters: Sequence[str]) -> bool:
    """Return whether a subject passes any of the filters, in which `*` stands for one token; no
    filters let everything pass.
    """
    tokens = subject.split(".")

    def one(filter: str) -> bool:
        filter_tokens = filter.split(".")
        return len(tokens) == len(filter_tokens) and all(
            filter_token in ("*", token)
            for filter_token, token in zip(filter_tokens, tokens, strict=True)
        )

    return not filters or any(map(one, filters))


def blob(key: str, part: int | str) -> str:
    """Return the subject of part `part` of a blob, by the key of its reference; `*` matches any."""
    return f"blob.{key}.{part}"


def blob_place(workspace: str, name: str) -> str:
    """Return the place of a blob among those of a workspace; its name is the SHA-256 of its bytes
    unless that is taken.

    Who may publish in one workspace only can neither occupy a place of another one nor see whether
    it is occupied.
    """
    return f"{token(workspace)}.{name}"
