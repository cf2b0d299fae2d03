"""Whose documents a request sees, and the routes that are open to those who do not see all.

A route is closed to them unless it takes the viewer, to show what the viewer sees, or declares that
it shows nothing of documents: a new route is closed without a line of its own.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, TypeVar, get_type_hints

from fastapi import Depends, HTTPException, Request

from services.query.visibility.viewer import Viewer

CLOSED = (
    "these credentials see only a part of the documents, and this route shows, or changes, what is "
    "beyond: ask with credentials that see everything; docs/permissions.md has a table of what "
    "every route gives to whom"
)


async def current_viewer(request: Request) -> Viewer | None:
    """Return whose documents the request sees; None: all."""
    return request.state.viewer


CurrentViewer = Annotated[Viewer | None, Depends(current_viewer)]
"""A route that takes it shows nothing that is hidden from the viewer."""


Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

_WITHOUT_DOCUMENTS: set[Callable[..., Any]] = set()


def shows_no_documents(endpoint: Endpoint) -> Endpoint:
    """Declare that a route shows nothing of documents, nor of what was made of them."""
    _WITHOUT_DOCUMENTS.add(endpoint)
    return endpoint


async def refuse_viewers(request: Request) -> None:
    """Raise a 403 where the viewer does not see all and the route is not open to such."""
    if request.state.viewer is not None and not is_open_to_viewers(request.scope.get("endpoint")):
        raise HTTPException(403, CLOSED)


REFUSE_VIEWERS = Depends(refuse_viewers)


@cache
def is_open_to_viewers(endpoint: Callable[..., Any] | None) -> bool:
    """Return whether a route is open to those who do not see all documents."""
    if endpoint is None:
        return False
    return endpoint in _WITHOUT_DOCUMENTS or _takes_viewer(endpoint)


def _takes_viewer(function: Callable[..., Any]) -> bool:
    """Return whether a route, or a dependency of it, takes the viewer."""
    for hint in get_type_hints(function, include_extras=True).values():
        for parameter in getattr(hint, "__metadata__", ()):
            dependency = getattr(parameter, "dependency", None)
            if dependency is current_viewer or (
                inspect.isfunction(dependency) and _takes_viewer(dependency)
            ):
                return True
    return False
