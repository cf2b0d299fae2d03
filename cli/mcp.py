"""`mcp`: serves clients of the Model Context Protocol."""

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from typing import Annotated

import typer

from cli.common import DATA, Data, Json, echo, errors, print_json, workspace_name

# `--help` answers at once: the SDK and the HTTP client are loaded by the command that needs them.

PORT = 9626


def _named(workspace: str) -> str:
    return workspace and workspace_name(workspace)


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Speak streamable HTTP instead of stdio.")
    ] = False,
    port: Annotated[
        int,
        typer.Option(
            "--port", metavar="N", min=0, max=65535, help="Port of --http; 0: any free one."
        ),
    ] = PORT,
    url: Annotated[
        str,
        typer.Option(
            "--url", metavar="URL", help="The query service; else that of the running stack."
        ),
    ] = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Annotated[
        str,
        typer.Option(
            "--workspace",
            metavar="NAME",
            envvar="LIGHTSTREAM_WORKSPACE",
            help="Tenant of clients that name none.",
            callback=_named,
        ),
    ] = "",
) -> None:
    """Serve a client of the Model Context Protocol: tools to search, ask, add documents and walk
    the graph.

    Over stdio for the program that starts it, with the key in LIGHTSTREAM_API_KEY. With --http on
    this machine, or on LIGHTSTREAM_MCP_HOST, where each client sends its own key.
    """
    with errors(as_json):
        from runtime.errors import ConfigurationError  # noqa: PLC0415

        if find_spec("mcp") is None:
            raise ConfigurationError(
                "the package `mcp` is not installed: install the extra `mcp`, as `pip install "
                "'lightstream-rag[mcp]'` does"
            )
        from mcp_server.query_service import KEY, WORKSPACE  # noqa: PLC0415
        from mcp_server.server import HttpOptions, serve_http, serve_stdio  # noqa: PLC0415
        from operations.query_service import query_address  # noqa: PLC0415
        from operations.settings import read_settings  # noqa: PLC0415

        settings = read_settings()
        api_url: Callable[[], str] = (
            (lambda: checked_url(url)) if url else (lambda: query_address(data))
        )
        if url:
            checked_url(url)
        named_headers = {WORKSPACE: workspace} if workspace else {}
        if not http:
            key = settings.lightstream_api_key.get_secret_value()
            asyncio.run(serve_stdio(api_url, {**named_headers, **({KEY: key} if key else {})}))
            return
        names = tuple(
            name.strip() for name in settings.lightstream_mcp_names.split(",") if name.strip()
        )
        options = HttpOptions(settings.lightstream_mcp_host, port, names, settings)
        asyncio.run(
            serve_http(
                api_url, named_headers, options, lambda address: show_address(address, as_json)
            )
        )


def show_address(address: str, as_json: bool) -> None:
    """Say where it listens."""
    if as_json:
        print_json({"url": address})
    else:
        echo(f"MCP over HTTP: {address}")


def checked_url(url: str) -> str:
    """The address. Raises InvalidInput for one that is none."""
    from urllib.parse import urlsplit  # noqa: PLC0415

    from runtime.errors import InvalidInput  # noqa: PLC0415

    try:
        parts = urlsplit(url)
        is_sound = parts.scheme in ("http", "https") and parts.hostname and parts.username is None
    except ValueError:
        is_sound = False
    if not is_sound:
        raise InvalidInput("--url must be http://host:port or https://host:port, without a user")
    return url
