"""Addresses of routes."""

from urllib.parse import urlsplit


def join_url(base: str, route: str, query: str = "") -> str:
    """Return the address of a route below `base`, whose query stays behind the path.

    A base that already ends with the route is that address.
    """
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    if not path.endswith(f"/{route}"):
        path = f"{path}/{route}"
    queries = [text for text in (parts.query, query) if text]
    return parts._replace(path=path, query="&".join(queries), fragment="").geturl()


def strip_path(base: str, *endings: str) -> str:
    """Return a base without these ends of its path: people enter the address of another form of
    the same server.
    """
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    for ending in endings:
        path = path.removesuffix(ending)
    return parts._replace(path=path).geturl()
