"""What is seen of a call of a model: a client span by the conventions of generative AI, its time,
and its tokens.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

from opentelemetry import trace

from contracts.values import TokenUsage
from runtime import semantic_conventions as names
from runtime.metrics import instruments
from runtime.models.call_scope import note_paid
from runtime.models.limits import Call


@dataclass(frozen=True)
class CallKind:
    """What is called, and for what: all of it comes from settings, so there are few of them."""

    operation: Literal["chat", "embeddings", "rerank"]
    model: str
    role: str
    """The beginning of the variables that describe the model: `LLM`, `EXTRACT_LLM`, `EMBEDDING`,
    `RERANK`.
    """


@contextmanager
def recorded_call(kind: CallKind, provider: str, call: Call) -> Generator[None]:
    """Record one call, with the usage that its caller leaves in `call`.

    Its span is not made the current one: nothing is called inside, and streams end in other tasks.
    """
    attributes = {
        names.GEN_AI_OPERATION: kind.operation,
        names.GEN_AI_PROVIDER: provider,
        names.GEN_AI_REQUEST_MODEL: kind.model,
    }
    span = trace.get_tracer(names.SCOPE).start_span(
        f"{kind.operation} {kind.model}", kind=trace.SpanKind.CLIENT, attributes=attributes
    )
    labels = {names.ROLE: kind.role, names.MODEL: kind.model, names.OUTCOME: "done"}
    began = perf_counter()
    try:
        with instruments.timed(instruments.model_call, labels):
            try:
                yield
            except GeneratorExit:  # a reader has left a stream
                raise
            except BaseException as error:
                labels[names.OUTCOME] = "failed"
                span.set_attribute(names.ERROR_TYPE, type(error).__name__)
                span.set_status(trace.StatusCode.ERROR)
                raise
    finally:
        if call.usage:
            _note_usage(kind, call.usage, span)
            note_paid(kind.operation, kind.model, call.usage, perf_counter() - began)
        span.end()


def _note_usage(kind: CallKind, usage: TokenUsage, span: trace.Span) -> None:
    span.set_attribute(names.GEN_AI_INPUT_TOKENS, usage.prompt)
    if kind.operation == "chat":
        span.set_attribute(names.GEN_AI_OUTPUT_TOKENS, usage.completion)
    for name, count in (
        ("input", usage.prompt),
        ("output", usage.completion),
        ("cached", usage.cached),
    ):
        if count:
            labels = {names.ROLE: kind.role, names.MODEL: kind.model, names.KIND: name}
            instruments.model_tokens.add(count, labels)
