"""Attacks over sockets on a server that runs: it stays small, answers others and lets go of what
stands still.
"""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.support.access import KEY, PASSWORD, READER, SECRET, SEVERAL, WRITER
from tests.support.commands import forking
from tests.support.guarded_server import MODULE, GuardedServer, guarded_server
from tests.support.openai_provider import serving
from tests.support.shared_servers import SharedServers
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="module")

MB = 2**20
MANY_SECONDS = 20
"""Longer than a busy machine takes for what costs next to nothing."""

DEADLINE = 3.0
"""Seconds of every deadline of the server under attack."""

DEADLINES = {f"HTTP_{part}_TIMEOUT": str(DEADLINE) for part in ("HEADER", "BODY", "WRITE")}
ACCESS = {
    "LIGHTSTREAM_API_KEYS": SEVERAL,
    "AUTH_ACCOUNTS": f"ada:{PASSWORD}",
    "TOKEN_SECRET": SECRET,
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GuardedServer]:
    async with guarded_server(tmp_path_factory.mktemp("server"), **DEADLINES, **ACCESS) as server:
        # What is loaded at the first question is no attack's doing.
        answer = await posted(server, "/query", {"query": "Who discovered radium?"})
        assert answer.status_code == 200, answer.text
        yield server


@pytest.fixture
def forked_command(shared_servers: SharedServers) -> list[str]:
    """The beginning of the command of a server whose memory and files do not matter."""
    return forking(shared_servers, MODULE)


async def posted(server: GuardedServer, path: str, body: object, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{server.port}", timeout=PATIENCE
    ) as client:
        return await client.post(path, json=body, headers={"X-API-Key": READER, **headers})


async def attacked(
    server: GuardedServer, *pieces: bytes, again: int = 0
) -> tuple[int, dict[str, str]]:
    """Send this, its last piece again and again, however it is taken; what is answered, (0, {}) for
    nothing.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError):
                for piece in (*pieces, *(pieces[-1:] * again)):
                    writer.write(piece)
                    await writer.drain()
            answer = b""
            with suppress(ConnectionError):
                while part := await reader.read(65536):
                    answer += part
    finally:
        writer.transport.abort()
    head, _, body = answer.partition(b"\r\n\r\n")
    return (int(head.split()[1]), json.loads(body)) if answer else (0, {})


async def longest_wait(server: GuardedServer, stop: asyncio.Event) -> float:
    """The longest time for which somebody else waited for an answer."""
    longest = 0.0
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{server.port}", timeout=PATIENCE
    ) as client:
        while not stop.is_set():
            began = time.monotonic()
            assert (await client.get("/health/live")).status_code == 200
            longest = max(longest, time.monotonic() - began)
            await asyncio.sleep(0.02)
    return longest


HEAD = b"POST /query HTTP/1.1\r\nHost: localhost\r\nX-API-Key: " + READER.encode() + b"\r\n"
JSON = b"Content-Type: application/json\r\n"
CHUNKED = HEAD + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
LOGIN = (
    b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
    b"application/x-www-form-urlencoded\r\n"
)
SPAM = b"X-Spam: " + b"y" * 1000 + b"\r\n"
PIECE = b"x" * 65536

FLOODS: dict[str, tuple[int, tuple[bytes, ...], int]] = {
    "20 MB of headers": (431, (HEAD, SPAM * 64), 320),
    "headers without end in one": (431, (HEAD + b"X-Spam: ", PIECE), 320),
    "a header's name without end": (431, (HEAD, PIECE), 320),
    "very many small headers": (431, (HEAD, b"a: b\r\n" * 200), 100),
    "an address without end": (414, (b"GET /", PIECE), 320),
    "headers behind the body": (431, (CHUNKED + b"2\r\n{}\r\n0\r\n", SPAM * 64), 320),
    "a chunk's size with endless words": (431, (CHUNKED + b"2;", PIECE), 320),
    "5 MB of & to log in": (413, (LOGIN + b"Content-Length: 5242880\r\n\r\n", b"&" * 65536), 79),
    "& without end to log in": (
        413,
        (LOGIN + b"Transfer-Encoding: chunked\r\n\r\n", b"8000\r\n" + b"&" * 32768 + b"\r\n"),
        160,
    ),
    "30 MB of JSON that nobody needs": (
        413,
        (HEAD + JSON + b"Content-Length: 31457287\r\n\r\n", b'{"a": "', PIECE),
        479,
    ),
    "JSON without end": (
        413,
        (CHUNKED + b"7\r\n" + b'{"a": "' + b"\r\n", b"10000\r\n" + PIECE + b"\r\n"),
        479,
    ),
}
"""By name: the answer, what is sent, and how often the last of it once more."""


@pytest.mark.parametrize("flood", FLOODS)
async def test_a_flood_is_refused_in_little_memory_while_others_are_answered(
    server: GuardedServer, flood: str
) -> None:
    status, pieces, again = FLOODS[flood]
    before = server.memory()
    stop = asyncio.Event()
    watching = asyncio.create_task(longest_wait(server, stop))
    answers = await asyncio.gather(*(attacked(server, *pieces, again=again) for _ in range(4)))
    stop.set()
    seconds = await watching
    # A client that is still sending may find the connection closed before it reads the answer.
    assert {code for code, _ in answers} <= {status, 0}
    assert (status, True) in {(code, bool(body.get("detail"))) for code, body in answers}
    assert server.memory() - before < 16 * MB
    assert seconds < MANY_SECONDS


async def test_a_login_of_the_longest_body_costs_next_to_nothing(server: GuardedServer) -> None:
    began = time.monotonic()
    code, _ = await attacked(
        server, LOGIN + b"Connection: close\r\nContent-Length: 16384\r\n\r\n" + b"&" * 16384
    )
    assert (code, time.monotonic() - began < MANY_SECONDS) == (422, True)


STANDSTILLS: dict[str, tuple[int, bytes]] = {
    "nothing at all": (0, b""),
    "a line break": (0, b"\r\n"),
    "half a method": (408, b"PO"),
    "half the headers": (408, HEAD),
    "no body": (408, HEAD + JSON + b"Content-Length: 100\r\n\r\n"),
    "half a body": (408, HEAD + JSON + b'Content-Length: 100\r\n\r\n{"query": "'),
    "a body in chunks without end": (408, CHUNKED + b"1\r\n \r\n"),
    "half a file": (
        408,
        HEAD.replace(b"/query", b"/documents/upload").replace(READER.encode(), WRITER.encode())
        + b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n\r\n"
        + b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf',
    ),
    # What came before buys no time: at 16 KB a second it would be 61 s.
    "a megabyte of a file and no more": (
        408,
        HEAD.replace(b"/query", b"/documents/upload").replace(READER.encode(), WRITER.encode())
        + b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 2000000\r\n\r\n"
        + b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        + b"y" * 1_000_000,
    ),
    "half a body of a stranger": (
        403,
        b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc",
    ),
}
"""By what is sent, and nothing more: the answer, 0 for none."""


async def test_connections_that_stand_still_are_let_go(server: GuardedServer) -> None:
    open_files = server.files()

    async def stood(name: str) -> None:
        status, content = STANDSTILLS[name]
        code, body = await attacked(server, content)
        assert code in ({401, 403} if status == 403 else {status}), name
        assert bool(body) == bool(code), name

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(stood(name) for name in STANDSTILLS for _ in range(10)))
        while server.files() > open_files:
            await asyncio.sleep(0.05)


async def test_a_body_that_drips_after_a_flood_is_given_up(server: GuardedServer) -> None:
    length = 2_000_000
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    upload = HEAD.replace(b"/query", b"/documents/text").replace(READER.encode(), WRITER.encode())
    writer.write(
        upload + JSON + b"Content-Length: %d\r\n\r\n" % length + b'{"text": "' + b"y" * 1_000_000
    )
    await writer.drain()
    began = time.monotonic()
    answer = asyncio.ensure_future(reader.read())
    with suppress(ConnectionError):
        while not answer.done() and time.monotonic() - began < MANY_SECONDS:
            writer.write(b"y")
            await writer.drain()
            await asyncio.wait({answer}, timeout=DEADLINE / 10)
    writer.transport.abort()
    assert (await answer).startswith(b"HTTP/1.1 408")
    assert time.monotonic() - began < MANY_SECONDS


async def test_a_body_that_comes_slowly_but_steadily_is_taken(server: GuardedServer) -> None:
    body = json.dumps({"query": "Who discovered radium?", "spam": "y" * 500_000}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(HEAD + JSON + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
    began = time.monotonic()
    for start in range(0, len(body), 100_000):
        writer.write(body[start : start + 100_000])
        await writer.drain()
        await asyncio.sleep(DEADLINE / 4)
    answer = await reader.read()
    writer.transport.abort()
    assert time.monotonic() - began > DEADLINE
    assert answer.startswith(b"HTTP/1.1 200")


async def test_a_connection_is_kept_for_several_requests_and_may_send_them_at_once(
    server: GuardedServer,
) -> None:
    request = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last_request = request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for _ in range(3):
        writer.write(request)
        assert b"200 OK" in await reader.readuntil(b"}")
    writer.write(request * 3 + last_request)
    assert (await reader.read()).count(b"200 OK") == 4
    writer.transport.abort()


async def narrow_connection(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which some hundred kilobytes stay unread; as the kernel makes them, it is ten
    megabytes.
    """
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
    narrow.setblocking(False)
    await asyncio.get_running_loop().sock_connect(narrow, ("127.0.0.1", port))
    return await asyncio.open_connection(sock=narrow, limit=1024)


async def test_streams_that_nobody_reads_are_given_up_and_their_turns_go_to_others(
    tmp_path: Path, forked_command: list[str]
) -> None:
    async with serving() as provider:
        variables = {"PROVIDER_URL": provider.url, "PROVIDER_MODEL": "flood", "LLM_MAX_ASYNC": "4"}
        async with guarded_server(tmp_path, forked_command, **DEADLINES, **variables) as server:
            content = json.dumps({"query": "Who discovered radium?"}).encode()
            ask = (
                b"POST /query/stream HTTP/1.1\r\nHost: localhost\r\n"
                + JSON
                + b"Content-Length: %d\r\n\r\n" % len(content)
            )
            silent = [await narrow_connection(server.port) for _ in range(4)]
            for _, writer in silent:
                writer.write(ask + content)
            async with asyncio.timeout(PATIENCE):
                while len(provider.requests) < 4:
                    await asyncio.sleep(0.05)
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
            writer.write(ask + content)
            async with asyncio.timeout(PATIENCE):
                while b'{"response"' not in await reader.readline():
                    pass
            for _, stream_writer in (*silent, (reader, writer)):
                stream_writer.transport.abort()


FORGED = {
    "X-Forwarded-For": "203.0.113.{}",
    "X-Real-IP": "203.0.113.{}",
    "Forwarded": "for=203.0.113.{}",
}


async def failed_logins(server: GuardedServer) -> list[int]:
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{server.port}", timeout=PATIENCE
    ) as client:
        answers = [
            await client.post(
                "/login",
                data={"username": "ada", "password": "guess"},
                headers={name: value.format(number) for name, value in FORGED.items()},
            )
            for number in range(7)
        ]
    return [answer.status_code for answer in answers]


async def addresses(server: GuardedServer, logins: int = 7) -> set[str]:
    """Those in the audit of that many logins, whose lines may be written after the answers."""

    def audited() -> list[str]:
        lines = [
            json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")
        ]
        return [
            line["address"]
            for line in lines
            if line["event"] == "audit" and line["what"] == "POST /login"
        ]

    async with asyncio.timeout(PATIENCE):
        while len(audited()) < logins:
            await asyncio.sleep(0.02)
    return set(audited())


async def test_nobody_forges_an_address_from_this_machine(
    tmp_path: Path, forked_command: list[str]
) -> None:
    async with guarded_server(tmp_path, forked_command, **ACCESS, LIGHTRAG_API_KEY=KEY) as server:
        assert await failed_logins(server) == [401] * 5 + [429] * 2
        assert await addresses(server) == {"127.0.0.1"}


async def test_a_proxy_that_was_named_is_believed(
    tmp_path: Path, forked_command: list[str]
) -> None:
    async with guarded_server(
        tmp_path, forked_command, **ACCESS, FORWARDED_ALLOW_IPS="10.0.0.0/8, 127.0.0.1"
    ) as server:
        assert await failed_logins(server) == [401] * 7
        assert await addresses(server) == {f"203.0.113.{number}" for number in range(7)}
