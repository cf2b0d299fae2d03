"""Methods about the service itself: its health, and logging in."""

from lightstream_rag.flows import Call, Flow, UseToken, get, parse_as, request
from lightstream_rag.models import Health, Login


def health() -> Flow[Health]:
    """Return the health of the service, and its configuration for callers that are signed in."""
    return get("/health", parse_as(Health))


def login(username: str, password: str) -> Flow[Login]:
    """Log in. From then on the client sends the token of the answer, and each renewed token that it
    receives.
    """
    answer = yield from request(
        Call("POST", "/login", parse_as(Login), form={"username": username, "password": password})
    )
    yield UseToken(answer.access_token)
    return answer
