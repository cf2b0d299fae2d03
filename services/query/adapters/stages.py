"""Stages of an answer as spans of its trace, and as times by mode."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from opentelemetry import trace

from runtime import semantic_conventions as names
from runtime.metrics import instruments
from services.query.question import AnswerStage, Mode


@contextmanager
def measured_stage(stage: AnswerStage, mode: Mode, /, *, is_nested: bool = True) -> Generator[None]:
    """See `MeasureStage`."""
    span = trace.get_tracer(names.SCOPE).start_span(
        "answer" if stage == "total" else stage, attributes={names.QUERY_MODE: mode}
    )
    with ExitStack() as stack:
        stack.callback(span.end)
        stack.enter_context(
            instruments.timed(instruments.query, {names.MODE: mode, names.STAGE: stage})
        )
        if is_nested:
            stack.enter_context(trace.use_span(span))
        yield
