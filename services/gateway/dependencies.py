"""How routes get what they work with: one value for each slice, which `wiring.py` gives to the
application.
"""

from typing import Any, TypeVar

from fastapi import Depends, FastAPI, HTTPException, Request

T = TypeVar("T")


def provide(app: FastAPI, *values: object) -> None:
    """Let routes depend on each of these values by its type."""
    app.state.provided = {type(value): value for value in values}


def provided(app: FastAPI, kind: type[T]) -> T | None:
    """Return the value of this type; None before the service is wired."""
    return getattr(app.state, "provided", {}).get(kind)


def depends_on(kind: type[T]) -> Any:
    """Return a dependency of FastAPI: the value of this type. A 503 until the service is wired."""

    # A coroutine, though it awaits nothing: FastAPI runs a plain function in another thread, which
    # costs a millisecond.
    async def value(request: Request) -> T:
        dependency = provided(request.app, kind)
        if dependency is None:
            raise HTTPException(
                503, "the service is starting; see /health/ready", {"Retry-After": "2"}
            )
        return dependency

    return Depends(value)
