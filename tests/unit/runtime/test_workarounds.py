"""What the room of workarounds says of the pinned libraries: a test that fails means that one may
go.
"""

import asyncio
import subprocess
import sys
from io import BytesIO
from typing import Any, cast

import openpyxl
import pptx
import pytest
import tiktoken
import uvicorn
from nats.aio.client import Client
from pymilvus import AsyncMilvusClient

from embedded.processes import free_port
from runtime.bus.nats.message_ids import publisher_key
from runtime.workarounds.nats_py import api_subject, connection_of
from runtime.workarounds.openpyxl import ReadOnlyWorksheet, part_of
from runtime.workarounds.tiktoken import without_ranks
from tests.support import office_files as office
from tests.support.office_variants import saved_as

IMPORT_HELP = "from runtime.workarounds.typer import import_help; import_help()"


def loaded(statement: str, module: str) -> bool:
    """Whether a new process has this module after the statement, without any code of ours."""
    code = f"import sys; {statement}; sys.exit({module!r} not in sys.modules)"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def public_values(of: object) -> list[Any]:
    return [getattr(of, name) for name in dir(of) if not name.startswith("_")]


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        pytest.param("import nats", "aiohttp.client", id="the_client_of_the_bus"),
        pytest.param("import pymilvus", "pandas", id="the_client_of_milvus"),
        pytest.param("import neo4j", "pandas", id="the_driver_of_the_graph"),
        pytest.param("import typer.rich_utils", "markdown_it", id="the_help_of_commands"),
        pytest.param("import typer.rich_utils", "pygments", id="tracebacks_of_commands"),
        pytest.param("import typer.rich_utils", "attr", id="attrs_for_rich"),
        pytest.param("import httpx", "httpx._main", id="the_http_library"),
    ],
)
def test_a_library_alone_imports_what_nobody_uses(statement: str, module: str) -> None:
    assert loaded(statement, module)


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        pytest.param(
            "import runtime.workarounds.nats_py", "aiohttp.client", id="the_client_of_the_bus"
        ),
        pytest.param("import runtime.workarounds.pymilvus", "pandas", id="the_client_of_milvus"),
        pytest.param("import runtime.workarounds.neo4j", "pandas", id="the_driver_of_the_graph"),
        pytest.param(IMPORT_HELP, "markdown_it", id="the_help_of_commands"),
        pytest.param(IMPORT_HELP, "pygments", id="tracebacks_of_commands"),
        pytest.param(IMPORT_HELP, "attr", id="attrs_for_rich"),
        pytest.param("import runtime.workarounds.httpx", "httpx._main", id="the_http_library"),
    ],
)
def test_with_the_workaround_it_does_not(statement: str, module: str) -> None:
    assert not loaded(statement, module)


def test_what_help_was_printed_without_can_be_imported_afterwards() -> None:
    statements = (
        f"{IMPORT_HELP}; import attr; from rich.markdown import Markdown; "
        "from rich.traceback import Traceback; Markdown('# a'); Traceback.from_exception; attr.ib"
    )
    assert loaded(statements, "markdown_it")


def test_a_jetstream_context_says_neither_its_connection_nor_its_prefix() -> None:
    client = Client()
    context = client.jetstream(prefix="LOG.API")
    assert client not in public_values(context)
    assert "LOG.API" not in public_values(context)
    assert connection_of(context) is client
    assert api_subject(context, "INFO") == "LOG.API.INFO"


async def test_a_client_that_reconnects_says_no_address() -> None:
    """Its ids of messages stay what they are."""

    async def server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b'INFO {"server_id":"x","version":"2.12.0","headers":true,"max_payload":1048576}\r\n'
        )
        while line := await reader.readline():
            if line.startswith(b"PING"):
                writer.write(b"PONG\r\n")
                await writer.drain()
                await leave.wait()
                break
        writer.close()

    leave = asyncio.Event()
    disconnection = asyncio.Event()

    async def disconnected() -> None:
        disconnection.set()

    listener = await asyncio.start_server(server, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    client = Client()
    await client.connect(
        f"nats://user:secret@127.0.0.1:{port}",
        disconnected_cb=disconnected,
        max_reconnect_attempts=-1,
        reconnect_time_wait=60,
    )
    key = publisher_key(client.jetstream())
    assert key
    listener.close()
    leave.set()
    await disconnection.wait()
    assert client.connected_url is None
    assert publisher_key(client.jetstream()) == key
    await client.close()


def test_a_sheet_read_by_rows_says_its_part_nowhere_else() -> None:
    data = BytesIO()
    openpyxl.Workbook().save(data)
    sheet = openpyxl.load_workbook(data, read_only=True).worksheets[0]
    assert part_of(cast("ReadOnlyWorksheet", sheet)) == "xl/worksheets/sheet1.xml"
    texts = [value for value in public_values(sheet) if isinstance(value, str)]
    assert not any("sheet1.xml" in text for text in texts)


@pytest.mark.parametrize("suffix", [".ppsx", ".ppsm", ".potx", ".potm"])
def test_a_slide_show_is_no_presentation(suffix: str) -> None:
    with pytest.raises((ValueError, AttributeError)):
        pptx.Presentation(BytesIO(saved_as(suffix, office.pptx())))


def test_an_encoding_keeps_its_vocabulary_a_second_time() -> None:
    ranks = {bytes([number]): number for number in range(256)} | {b"ab": 256}
    encoding = tiktoken.Encoding(
        "two letters", pat_str=".+", mergeable_ranks=ranks, special_tokens={}
    )
    assert any(value is ranks for value in vars(encoding).values())
    tokens = encoding.encode_ordinary("cab")
    assert tokens == [ord("c"), 256]
    without_ranks(encoding)
    assert not any(value is ranks for value in vars(encoding).values())
    assert encoding.encode_ordinary("cab") == tokens
    assert encoding.decode(tokens) == "cab"


def test_the_client_of_milvus_says_its_connection_nowhere() -> None:
    names = [name for name in dir(AsyncMilvusClient) if not name.startswith("_")]
    assert "upsert" in names
    assert not any("connection" in name for name in names)


async def test_the_server_alone_takes_headers_of_any_size() -> None:
    async def app(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    port = free_port()
    config = uvicorn.Config(
        app, port=port, http="httptools", ws="none", lifespan="off", log_config=None
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
    for number in range(1000):
        writer.write(b"X-%d: %s\r\n" % (number, b"x" * 1000))
    writer.write(b"\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 204")
    writer.close()
    server.should_exit = True
    await serving
