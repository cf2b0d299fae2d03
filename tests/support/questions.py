"""Questions asked in this process, and over the wire of a server that really listens."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal

from starlette.applications import Starlette

from contracts.graph import Generations
from runtime.bus.memory import MemoryLog
from services.query.charges import Charges
from services.query.partitions import Partitions
from services.query.past.answers import MemoryPastAnswers
from services.query.past.reading import Past
from services.query.questions.local import LocalQuestions
from services.query.questions.port import QuestionRequest, Questions, SearchPlace
from services.query.questions.remote import RemoteQuestions
from services.query.questions.server import QuestionServer
from services.query.receipt_forms import parse_receipt_forms
from services.query.receipts.publishing import AnswerReceipts
from services.query.settings import QuerySettings
from tests.support.querying import QueryHarness
from tests.support.served import served

KEY = "a key of these tests"

Way = Literal["local", "remote"]


def place(workspace: str = "w", sequence: int | None = None) -> SearchPlace:
    """The live generations of a workspace, or its past."""
    return SearchPlace(partitions=Partitions.of(workspace, Generations()), sequence=sequence)


def question(query: str = "Who discovered radium?", **fields: Any) -> QuestionRequest:
    """A question of mode mix, with these fields."""
    fields_given: dict[str, Any] = {"query": query, "place": place(), "mode": "mix", **fields}
    return QuestionRequest(**fields_given)


def local_questions(
    harness: QueryHarness, receipts: AnswerReceipts | None = None, **changes: Any
) -> LocalQuestions:
    """Questions over the stores of the harness, with these dependencies changed."""
    settings = QuerySettings()
    past = Past(harness.log, settings.summary_limits)
    answers = MemoryPastAnswers(harness.log, harness.rows)
    return LocalQuestions(settings, harness.deps(**changes), past, answers, receipts)


def receipts_of(harness: QueryHarness, forms: str = "full", model: str = "") -> AnswerReceipts:
    """Receipts in these forms, which wait until a test publishes them."""
    return AnswerReceipts(harness.log, parse_receipt_forms(forms), model)


def question_server(questions: Questions | None) -> QuestionServer:
    """A server of these questions; None: it is still starting."""
    server = QuestionServer(KEY)
    server.questions = questions
    server.charges = Charges(MemoryLog())
    return server


@asynccontextmanager
async def asked_over_the_wire(
    server: QuestionServer, *, key: str = KEY, silence: float = 20.0
) -> AsyncGenerator[RemoteQuestions]:
    """A client of the server, which listens on a port of its own."""
    async with served(Starlette(routes=[server.mount()])) as url:
        remote = RemoteQuestions(url, key, silence=silence)
        try:
            yield remote
        finally:
            await remote.close()


@asynccontextmanager
async def questions_by(way: Way, local: Questions) -> AsyncGenerator[Questions]:
    """The same questions, asked either way."""
    if way == "local":
        yield local
        return
    async with asked_over_the_wire(question_server(local)) as remote:
        yield remote
