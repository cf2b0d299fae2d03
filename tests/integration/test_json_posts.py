"""How requests to a model go out: over kept connections, through proxies, with the account of an
address, cut off.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runtime.errors import Unavailable
from runtime.models.json_posts import MOST_REDIRECTS, RedirectedAway, proxy_of, redirected
from runtime.models.port import Message
from tests.support.openai_provider import KEY, chat_at
from tests.support.tls import certificates

ANSWER = json.dumps(
    {"choices": [{"message": {"content": "the answer"}, "finish_reason": "stop"}]}
).encode()
QUESTION = [Message("user", "what?")]


@dataclass
class Recorder:
    """A server that answers each request with the same bytes, and what it was sent."""

    port: int = 0
    connections: int = 0
    heads: list[str] = field(default_factory=list[str])
    redirect: bytes = b""
    """The answer to the first request, where there is one."""
    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                self.heads.append(head)
                fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if line)
                await reader.readexactly(int(fields["content-length"]))
                writer.write(self.redirect or self.answer)
                self.redirect = b""
                await writer.drain()
                if len(self.answer) < len(ANSWER):
                    break
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


@pytest.fixture
async def recorder() -> AsyncIterator[Recorder]:
    result = Recorder()
    async with await asyncio.start_server(result.serve, "127.0.0.1", 0) as server:
        result.port = server.sockets[0].getsockname()[1]
        yield result
        server.close()


async def ask(url: str, times: int = 1) -> list[str]:
    chat = chat_at(url, "m", timeout=10.0)
    try:
        return [(await chat.complete(QUESTION)).text for _ in range(times)]
    finally:
        await chat.close()


async def test_one_connection_is_kept_for_all_requests(recorder: Recorder) -> None:
    assert await ask(f"http://127.0.0.1:{recorder.port}/v1/", 3) == ["the answer"] * 3
    assert recorder.connections == 1
    assert {head.splitlines()[0] for head in recorder.heads} == {
        "POST /v1/chat/completions HTTP/1.1"
    }
    assert all(f"Authorization: Bearer {KEY}\r\n" in head for head in recorder.heads)
    assert all("Accept-Encoding: identity\r\n" in head for head in recorder.heads)


async def test_an_account_in_the_address_takes_the_place_of_the_key(recorder: Recorder) -> None:
    assert await ask(f"http://ada:marsh@127.0.0.1:{recorder.port}/v1") == ["the answer"]
    (head,) = recorder.heads
    assert "Authorization: Basic YWRhOm1hcnNo\r\n" in head
    assert KEY not in head


async def test_a_proxy_of_the_environment_is_asked(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{recorder.port}")
    monkeypatch.setenv("no_proxy", "near.test,127.0.0.1")
    assert await ask("http://model.test/v1") == ["the answer"]
    assert recorder.heads[0].startswith(
        "POST http://model.test/v1/chat/completions HTTP/1.1\r\nHost: model.test\r\n"
    )
    assert proxy_of("http://near.test:8000/v1") is None
    assert proxy_of("http://u:p@near.test/v1") is None
    assert proxy_of("https://model.test/v1") is None
    monkeypatch.setenv("all_proxy", "http://other.test")
    assert proxy_of("https://model.test/v1") == "http://other.test"


def moved(url: str) -> bytes:
    trace = "x" * len(ANSWER)
    return f"HTTP/1.1 307 Moved\r\nContent-Length: 0\r\nX-Trace: {trace}\r\nLocation: {url}\r\n\r\n".encode()  # noqa: E501


async def stream(url: str) -> list[str]:
    chat = chat_at(url, "m", timeout=10.0)
    try:
        return [piece.text async for piece in chat.stream(QUESTION)]
    finally:
        await chat.close()


@pytest.mark.parametrize("send", [ask, stream])
async def test_a_redirect_to_another_server_is_not_followed(
    recorder: Recorder, send: Callable[[str], Awaitable[list[str]]]
) -> None:
    other_server = Recorder()
    async with await asyncio.start_server(other_server.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        recorder.answer = moved(f"http://127.0.0.1:{port}/v1/chat/completions")
        with pytest.raises(
            Unavailable, match=f"redirects to 127.0.0.1:{port}, which was not followed"
        ):
            await send(f"http://127.0.0.1:{recorder.port}/v1")
        server.close()
    assert len(recorder.heads) == 1
    assert other_server.heads == []


async def test_a_redirect_on_the_same_server_is_followed_with_the_text_and_the_key(
    recorder: Recorder,
) -> None:
    recorder.redirect = moved("/v2/chat/completions")
    assert await ask(f"http://127.0.0.1:{recorder.port}/v1") == ["the answer"]
    assert [head.split(" ", 2)[1] for head in recorder.heads] == [
        "/v1/chat/completions",
        "/v2/chat/completions",
    ]
    assert all(KEY in head for head in recorder.heads)


async def test_redirects_without_an_end_are_given_up(recorder: Recorder) -> None:
    recorder.answer = moved("/v1/chat/completions")
    with pytest.raises(Unavailable, match="HTTP 307"):
        await ask(f"http://127.0.0.1:{recorder.port}/v1")
    assert len(recorder.heads) <= 2 * (MOST_REDIRECTS + 1)


@pytest.mark.parametrize(
    ("before", "after", "server"),
    [
        ("http://a.test/v1/x", "https://a.test/v1/x", "https://a.test/v1/x"),
        ("http://ada:key@a.test/v1/x", "http://a.test/v2/x", "http://ada:key@a.test/v2/x"),
        ("https://a.test/v1/x", "/v2/x", "https://a.test/v2/x"),
        ("https://a.test/v1/x", "https://A.test:443/v2/x", "https://A.test:443/v2/x"),
        ("https://a.test/v1/x", "http://a.test/v1/x", None),
        ("https://a.test/v1/x", "//b.test/v1/x", None),
        ("https://a.test/v1/x", "https://a.test:8443/v1/x", None),
        ("https://a.test/v1/x", "https://a.test.evil.test/v1/x", None),
        ("https://a.test/v1/x", "file:///etc/passwd", None),
    ],
)
def test_redirects_stay_on_the_server(before: str, after: str, server: str | None) -> None:
    if server is None:
        with pytest.raises(RedirectedAway):
            redirected(before, after)
    else:
        assert redirected(before, after) == server


async def test_long_headers_of_a_gateway_are_read(recorder: Recorder) -> None:
    recorder.answer = recorder.answer.replace(b"\r\n", b"\r\nX-Trace: %s\r\n" % (b"x" * 20_000), 1)
    assert await ask(f"http://127.0.0.1:{recorder.port}/v1") == ["the answer"]


async def test_an_answer_that_breaks_off_is_worth_another_try(recorder: Recorder) -> None:
    recorder.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"
    with pytest.raises(Unavailable, match="broke off"):
        await ask(f"http://127.0.0.1:{recorder.port}/v1")


async def test_a_provider_is_believed_whose_certificate_is_of_a_known_authority(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = certificates(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    async with await asyncio.start_server(recorder.serve, "127.0.0.1", 0, ssl=context) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        with pytest.raises(Unavailable):
            await ask(url)
        assert recorder.heads == []
        monkeypatch.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
        assert await ask(url) == ["the answer"]
        server.close()
