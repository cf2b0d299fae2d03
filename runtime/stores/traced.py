"""A span for each call of a store that belongs to a trace; where none are written, the store
itself.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from contracts.graph import VECTOR_KINDS
from runtime import semantic_conventions as names
from runtime.stores.documents.port import Table

S = TypeVar("S")


def traced(store: S, system: str, namespace: str = "") -> S:
    """Return the store, with a client span over each of its calls. `system`: its kind, as the
    conventions name it.
    """
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        return store
    return cast(
        "S",
        _Traced(
            store,
            {names.DB_SYSTEM: system, **({names.DB_NAMESPACE: namespace} if namespace else {})},
        ),
    )


class _Traced:
    """Answers as the store does. No span holds a key, a text or a workspace: keys name documents.

    What is asked in no trace, such as how far a projection is, begins none.
    """

    def __init__(self, store: object, attributes: dict[str, str]) -> None:
        self._store = store
        self._attributes = attributes

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._store, name)
        return self._spanned(name, attribute) if iscoroutinefunction(attribute) else attribute

    def _spanned(
        self, name: str, call: Callable[..., Awaitable[Any]]
    ) -> Callable[..., Awaitable[Any]]:
        @wraps(call)
        async def spanned(*arguments: Any, **options: Any) -> Any:
            if not trace.get_current_span().get_span_context().is_valid:
                return await call(*arguments, **options)
            collection = _collection(arguments)
            attributes = {**self._attributes, names.DB_OPERATION: name}
            if collection:
                attributes[names.DB_COLLECTION] = collection
            with trace.get_tracer(names.SCOPE).start_as_current_span(
                f"{name} {collection or self._attributes[names.DB_SYSTEM]}",
                kind=trace.SpanKind.CLIENT,
                attributes=attributes,
                record_exception=False,
            ) as span:
                try:
                    return await call(*arguments, **options)
                except Exception as error:
                    span.set_attribute(names.ERROR_TYPE, type(error).__name__)
                    raise

        return spanned


def _collection(arguments: tuple[Any, ...]) -> str:
    """Return the table, or the kind of vectors, that a call is about; empty for all of them."""
    for argument in arguments:
        if isinstance(argument, Table):
            return argument.name
        if isinstance(argument, str) and argument in VECTOR_KINDS:
            return argument
    return ""
