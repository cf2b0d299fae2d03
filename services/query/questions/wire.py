"""How questions and answers stand on the wire: JSON, and of an answer an object a line.

What a reader does not know it ignores, and what it lacks has its default: the gateway and the query
service may be of neighbouring versions. A blank line says that the answer is being worked on.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from runtime import errors as runtime_errors
from runtime.errors import (
    InvalidInput,
    ModelRefused,
    Retryable,
    ServiceError,
    TextFailure,
    Unavailable,
)
from runtime.models.port import AnswerPiece
from services.query import errors as request_errors
from services.query.answer import Answer
from services.query.question import ProgressStep
from services.query.questions.port import QuestionRequest, RetrievedData
from services.query.retrieval.results import RetrievalResult

T = TypeVar("T")

PREFIX: Final = "/questions"
"""Path below which the query service is asked: `/questions/ask`, `/retrieve`, `/configuration`."""

HEARTBEAT = 5.0
"""Seconds after which a blank line is sent where nothing else is."""

BLANK = b"\n"


@dataclass(frozen=True)
class AskedQuestion:
    """A question on the wire, with who asks: calls of models are charged in that name.

    A question of a viewer has a field of its own, so that a query service that knows of no viewers
    misses `request` and refuses, instead of answering from all documents.
    """

    request: QuestionRequest | None = None
    viewed: QuestionRequest | None = None
    actor: str | None = None

    @classmethod
    def of(cls, request: QuestionRequest, actor: str | None) -> "AskedQuestion":
        """Return the question of a request as it is sent."""
        return cls(None, request, actor) if request.viewer else cls(request, None, actor)

    @property
    def question(self) -> QuestionRequest:
        """Return the question. Raises InvalidInput where there is none."""
        question = self.viewed or self.request
        if question is None or (self.viewed and question.viewer is None):
            raise InvalidInput("there is no question")
        return question


@dataclass(frozen=True)
class AskedConfiguration:
    """See `Questions.configuration`."""

    generation: int


@dataclass(frozen=True)
class AnswerHead:
    """An answer without its pieces, which follow it where it is `is_streamed`."""

    text: str
    retrieval: RetrievalResult
    by_model: bool = False
    truncated: bool = False
    reasoning: str = ""
    prompt_truncated: bool = False
    is_streamed: bool = False
    receipt: str = ""

    @classmethod
    def of(cls, answer: Answer) -> "AnswerHead":
        """Return the head of an answer."""
        return cls(
            text=answer.text,
            retrieval=answer.retrieval,
            by_model=answer.by_model,
            truncated=answer.truncated,
            reasoning=answer.reasoning,
            prompt_truncated=answer.prompt_truncated,
            is_streamed=answer.pieces is not None,
            receipt=answer.receipt,
        )

    def with_pieces(self, pieces: AsyncGenerator[AnswerPiece] | None) -> Answer:
        """Return the answer, with the pieces that follow its head."""
        return Answer(
            text=self.text,
            retrieval=self.retrieval,
            by_model=self.by_model,
            pieces=pieces,
            truncated=self.truncated,
            reasoning=self.reasoning,
            prompt_truncated=self.prompt_truncated,
            receipt=self.receipt,
        )


JSON: TypeAdapter[Any] = TypeAdapter(Any)
CONFIGURATION: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])
ASKED: TypeAdapter[AskedQuestion] = TypeAdapter(AskedQuestion)
ASKED_CONFIGURATION: TypeAdapter[AskedConfiguration] = TypeAdapter(AskedConfiguration)
STEP: TypeAdapter[ProgressStep] = TypeAdapter(ProgressStep)
DETAIL: TypeAdapter[str] = TypeAdapter(str)
HEAD: TypeAdapter[AnswerHead] = TypeAdapter(AnswerHead)
PIECE: TypeAdapter[AnswerPiece] = TypeAdapter(AnswerPiece)
DATA: TypeAdapter[RetrievedData] = TypeAdapter(RetrievedData)


def line(name: str, value: Any, adapter: TypeAdapter[Any] = JSON) -> bytes:
    """Return a line with one named value of the form that the adapter has."""
    encoded = adapter.dump_json(value)
    return b'{"%s":%s}\n' % (name.encode(), encoded)


@dataclass(frozen=True)
class Progress:
    """A step of answering. One with a detail has a line of its own name, which gateways before it
    ignore: they know no step that has one.
    """

    step: ProgressStep
    detail: str = ""

    def line(self) -> bytes:
        """Return the step as it is sent."""
        if self.step == "using_tool":
            return line("tool", self.detail, DETAIL)
        return line("progress", self.step, STEP)


def read_line(data: bytes) -> tuple[str, bytes]:
    """Return the name of a line, and its value as JSON. Raises Unavailable for anything else."""
    name, colon, value = data.partition(b":")
    if not (name.startswith(b'{"') and colon and value.endswith(b"}")):
        raise Unavailable("the query service sent a line that cannot be read")
    return name[2:-1].decode(errors="replace"), value[:-1]


def read_value(value: bytes, adapter: TypeAdapter[T]) -> T:
    """Return the value of a line. Raises Unavailable where its form is another one."""
    try:
        return adapter.validate_json(value)
    except ValidationError as error:
        raise Unavailable(
            f"the query service sent what this version cannot read: {error.error_count()} fields"
        ) from None


ERRORS: Final[dict[str, type[ServiceError]]] = {
    name: kind
    for module in (runtime_errors, request_errors)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, ServiceError)
}
"""Kinds of errors that both sides know, by name."""


class QuestionFailed(Exception):
    """The query service failed by a fault of its own, which its log describes."""


@dataclass(frozen=True)
class WireError:
    """An error on the wire. `kinds`: its class and the classes above, the narrowest first; empty
    for a fault.
    """

    message: str
    kinds: tuple[str, ...] = ()
    model: str = ""
    sentence: str = ""
    retry_after: float | None = None
    reason: str = ""

    @classmethod
    def of(cls, error: ServiceError) -> "WireError":
        """Return an error as it is sent."""
        names = tuple(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in ERRORS)
        return cls(
            message=str(error),
            kinds=names,
            model=error.model,
            sentence=error.sentence,
            retry_after=error.retry_after if isinstance(error, Retryable) else None,
            reason=error.reason if isinstance(error, ModelRefused) else "",
        )

    def error(self) -> Exception:
        """Return the error to raise: of the narrowest kind that is known here."""
        kind = next((ERRORS[name] for name in self.kinds if name in ERRORS), None)
        if kind is None:
            return QuestionFailed(self.message)
        error = self._of_kind(kind)
        if self.model:
            error.model = self.model
        return error

    def _of_kind(self, kind: type[ServiceError]) -> ServiceError:
        if issubclass(kind, ModelRefused):
            return kind(self.message, self.reason, self.sentence)  # pyright: ignore[reportArgumentType]
        if issubclass(kind, TextFailure):
            return kind(self.message, self.sentence)
        if issubclass(kind, Retryable):
            return kind(self.message, retry_after=self.retry_after)
        return kind(self.message)


WIRE_ERROR: TypeAdapter[WireError] = TypeAdapter(WireError)


def error_line(error: Exception, id: str) -> bytes:
    """Return the line of an error. `id`: what the log has of one that is a fault."""
    if isinstance(error, ServiceError):
        return line("error", WireError.of(error), WIRE_ERROR)
    return line("error", WireError(f"the query service failed (error_id: {id})"), WIRE_ERROR)


def read_request(data: bytes, adapter: TypeAdapter[T]) -> T:
    """Return what is asked. Raises InvalidInput where its form is another one."""
    try:
        return adapter.validate_json(data)
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, fault["loc"])) for fault in error.errors())
        raise InvalidInput(
            f"the query service does not take this question ({fields}): is the gateway of "
            "another version?"
        ) from None
