"""The routes of the API by its own description, and the sentence of an error."""

from functools import cache

import httpx

from services.gateway.app import create_app


@cache
def described_routes() -> list[tuple[str, str]]:
    """Method and path of every route in the description of the API, so that none is missed.

    Whoever may use them, they are the same; to make the description takes half a second.
    """
    return [
        (method.upper(), path)
        for path, methods in create_app().openapi()["paths"].items()
        for method in methods
    ]


def error_sentence(answer: httpx.Response) -> str:
    """The sentence of an error, in the shape of whichever protocol."""
    body = answer.json()
    result = body.get("detail", body.get("error"))
    return result["message"] if isinstance(result, dict) else result
