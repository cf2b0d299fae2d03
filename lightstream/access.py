"""The service itself: whether it answers, and signing in to it."""

from lightstream.flows import Call, Flow, SignedIn, ask, get, into
from lightstream.models import Health, Login


def health() -> Flow[Health]:
    """Whether the service answers, and what it works with."""
    return get("/health", into(Health))


def login(username: str, password: str) -> Flow[Login]:
    """Sign in: from now on the client sends the token that it gets, and each new one that an answer brings."""
    found = yield from ask(Call("POST", "/login", into(Login), form={"username": username, "password": password}))
    yield SignedIn(found.access_token)
    return found
