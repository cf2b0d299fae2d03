"""Subjects: `kb.v1.<workspace>.<document>.<EventType>`, so one document's history can be read, and
erased.

Who builds or takes apart a subject of the log does it here, so that the layout has one home
(`docs/scaling.md` has the one that is to come).

A token is `[a-z0-9_-]`, at most 64 long; any other name stands there as `x-` and half its SHA-256.
The envelope carries the name itself, and the event processor refuses an event whose workspace
differs from its subject's.
"""

import re
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

_TOKEN = re.compile(r"(?!x-)[a-z0-9_-]{1,64}")


@lru_cache(maxsize=16_384)  # asked several times for each event of a document
def token(name: str) -> str:
    """Return the subject token of a workspace or a document: the name, or its hash."""
    return name if _TOKEN.fullmatch(name) else "x-" + sha256(name)[:32]


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
