"""The service itself: whether it answers, and signing in to it."""

from lightstream.flows import Call, Flow, UseToken, get, parse_as, request
from lightstream.models import Health, Login


def health() -> Flow[Health]:
    """Return whether the service answers, and what it works with."""
    return get("/health", parse_as(Health))


def login(username: str, password: str) -> Flow[Login]:
    """Sign in: from now on the client sends the token that it gets, and each new one that an answer brings."""
    found = yield from request(
        Call("POST", "/login", parse_as(Login), form={"username": username, "password": password})
    )
    yield UseToken(found.access_token)
    return found
