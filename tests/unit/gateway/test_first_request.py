"""What FastAPI does when a route is compared for the first time is done before anybody asks."""

import sys
from types import FrameType
from typing import Any

import pytest
from fastapi import FastAPI

from services.gateway import app as application
from services.gateway.app import compare_routes, create_app

MOST_CALLS = 10_000
"""Of Python functions, for a request that is compared with all routes. Taking all of them apart
takes hundreds of thousands.
"""


def calls_of_a_comparison(app: FastAPI) -> int:
    """Count the calls of functions while all routes are compared with a request."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    request: dict[str, Any] = {"type": "http", "method": "GET", "path": "/-", "root_path": ""}
    sys.setprofile(note)
    try:
        for route in app.routes:
            route.matches({**request, "headers": []})
    finally:
        sys.setprofile(None)
    return count


async def test_the_first_request_finds_routes_that_were_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(application, "COMPARISON_SECONDS", 0.0)
    application._routes.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert calls_of_a_comparison(create_app()) > MOST_CALLS
    application._routes.cache_clear()  # pyright: ignore[reportPrivateUsage]
    app = create_app()
    await compare_routes(app)
    assert calls_of_a_comparison(app) < MOST_CALLS
