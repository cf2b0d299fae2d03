"""When a request is sent again, what it looks like then, and how a bad answer is told."""

import asyncio
import io
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx
import pytest
import stamina

from lightstream_rag.connection import MAX_RETRY_AFTER, may_succeed_later
from lightstream_rag.errors import (
    AccessDenied,
    InvalidRequest,
    LightstreamError,
    NotOffered,
    RateLimited,
    ServerFault,
    TimedOut,
    Unavailable,
)
from tests.support.clients import KINDS, EitherClient, Kind, client

ADDED = {
    "message": "1 accepted.",
    "track_id": "t",
    "documents": [{"id": "d", "sequence": 1, "track_id": "t"}],
}
COUNTS = {"status_counts": {"all": 0}}


class ScriptedServer:
    """A server that says one thing after the other, and remembers what it was asked. The last one
    stays.
    """

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers, self.asked = list(answers), list[httpx.Request]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        # A response is read once.
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


def to(
    kind: Kind, script: ScriptedServer, **options: Any
) -> AbstractAsyncContextManager[EitherClient]:
    """A client of a server with a script."""

    async def awaited(request: httpx.Request) -> httpx.Response:
        return script(request)

    transport = httpx.MockTransport(awaited if kind == "asyncio" else script)
    return client(kind, "http://query", transport=transport, **options)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param


@pytest.fixture
def at_once() -> Iterator[None]:
    """Try again without a pause."""
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


BUSY = httpx.Response(503, json={"detail": "starting"}, headers={"Retry-After": "2"})
OFTEN = httpx.Response(429, json={"detail": "too many requests"}, headers={"Retry-After": "1"})
GONE = httpx.ConnectError("no route to http://secret")
CUT = httpx.RemoteProtocolError("server disconnected")

NOTHING = {"status": "failure", "message": "", "data": {}, "metadata": {}}

REPEATABLE: dict[str, tuple[Callable[[EitherClient], Awaitable[Any]], object]] = {
    "a GET": (lambda client: client.status_counts(), COUNTS),
    "a list": (
        lambda client: client.all_documents(),
        {
            "documents": [],
            "status_counts": {},
            "pagination": {
                "page": 1,
                "page_size": 200,
                "total_count": 0,
                "total_pages": 0,
                "has_next": False,
                "has_prev": False,
            },
        },
    ),
    "a question": (lambda client: client.query("Who?"), {"response": "Ada."}),
    "evidence": (lambda client: client.query_data("Who?"), NOTHING),
    "a text": (lambda client: client.add_text("A text."), ADDED),
    "texts": (lambda client: client.add_texts(["A text."]), ADDED),
    "a file": (lambda client: client.upload(io.BytesIO(b"Some bytes."), "a.txt"), ADDED),
    "a stream": (lambda client: client.streamed("Who?"), {"response": "Ada."}),
}


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("request_name", REPEATABLE)
async def test_what_may_be_repeated_is_the_same_request_each_time(
    kind: Kind, request_name: str
) -> None:
    call, answer = REPEATABLE[request_name]
    script = ScriptedServer(GONE, BUSY, OFTEN, CUT, httpx.Response(200, json=answer))
    async with to(kind, script) as client:
        await call(client)
    assert len(script.asked) == 5
    assert (
        len({(request.url, request.headers.get("Idempotency-Key")) for request in script.asked})
        == 1
    )
    bodies = {request.content.replace(_boundary(request), b"--") for request in script.asked}
    assert len(bodies) == 1
    assert request_name != "a file" or b"Some bytes." in bodies.pop()


def _boundary(request: httpx.Request) -> bytes:
    """What parts the fields of a form; it differs each time."""
    return request.headers.get("content-type", "").partition("boundary=")[2].encode() or b"none"


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("failure", [BUSY, OFTEN, GONE, CUT])
async def test_an_edit_a_deletion_and_a_login_are_sent_once(
    kind: Kind, failure: httpx.Response | Exception
) -> None:
    script = ScriptedServer(failure)
    async with to(kind, script) as client:
        for call in (
            client.delete_documents(["d"]),
            client.edit_entity("Port Elm", description="A port."),
            client.delete_relation("a", "b"),
            client.login("ada", "a password"),
        ):
            with pytest.raises(Unavailable):
                await call
    assert len(script.asked) == 4


@pytest.mark.usefixtures("at_once")
async def test_it_gives_up_after_so_many_attempts(kind: Kind) -> None:
    script = ScriptedServer(BUSY)
    async with to(kind, script, attempts=3) as client:
        with pytest.raises(Unavailable, match="/documents/status_counts: starting") as error:
            await client.status_counts()
    assert len(script.asked) == 3
    assert (error.value.status, error.value.retry_after) == (503, 2.0)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "failure",
    [httpx.ReadTimeout("slow"), httpx.Response(500, json={}), httpx.Response(404, json={})],
)
async def test_what_would_not_help_is_not_tried(
    kind: Kind, failure: httpx.Response | Exception
) -> None:
    script = ScriptedServer(failure)
    async with to(kind, script) as client:
        with pytest.raises(LightstreamError):
            await client.status_counts()
    assert len(script.asked) == 1


def test_an_outage_is_a_reason_to_ask_again_and_a_long_wait_is_none() -> None:
    assert may_succeed_later(Unavailable("full", retry_after=30.0)) is True
    assert may_succeed_later(Unavailable("gone")) is True
    assert may_succeed_later(RateLimited("locked out", retry_after=MAX_RETRY_AFTER + 1)) is False
    assert may_succeed_later(TimedOut("slow")) is False
    assert may_succeed_later(ServerFault("a bug")) is False


async def test_it_waits_as_long_as_it_is_told(kind: Kind) -> None:
    script = ScriptedServer(
        httpx.Response(429, json={}, headers={"Retry-After": "1"}), httpx.Response(200, json=COUNTS)
    )
    since = time.monotonic()
    async with to(kind, script) as client:
        await client.status_counts()
    assert time.monotonic() - since >= 1.0


@pytest.mark.parametrize(
    ("header", "shortest", "longest"),
    [
        ("7", 7.0, 7.0),
        ("0.5", 0.5, 0.5),
        ("-3", 0.0, 0.0),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 1e9, 1e10),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 0.0, 0.0),
        ("soon", None, None),
        ("nan", None, None),
        ("", None, None),
    ],
)
async def test_retry_after_is_seconds_or_a_date(
    header: str, shortest: float | None, longest: float | None
) -> None:
    script = ScriptedServer(httpx.Response(503, json={}, headers={"Retry-After": header}))
    async with to("asyncio", script, attempts=1) as client:
        with pytest.raises(Unavailable) as error:
            await client.status_counts()
    wait = error.value.retry_after
    assert (
        wait == shortest
        if shortest is None or longest is None or wait is None
        else shortest <= wait <= longest
    )


@pytest.mark.parametrize(
    ("answer", "kind_of", "message"),
    [
        (
            httpx.Response(422, json={"detail": [{"msg": "too short"}, {"msg": "no"}]}),
            InvalidRequest,
            "too short; no",
        ),
        (
            httpx.Response(400, json={"status": "failure", "message": "no query"}),
            InvalidRequest,
            "no query",
        ),
        (
            httpx.Response(403, json={"detail": "not for this workspace"}),
            AccessDenied,
            "not for this workspace; give",
        ),
        (httpx.Response(501, json={"detail": "INPUT_DIR is not set"}), NotOffered, "INPUT_DIR"),
        (httpx.Response(502, text="<html>"), Unavailable, "HTTP status 502"),
        (httpx.Response(500, json=[1]), ServerFault, "HTTP status 500"),
        (
            httpx.Response(302, headers={"Location": "http://elsewhere"}),
            ServerFault,
            "HTTP status 302",
        ),
        (httpx.Response(200, text="<html>"), ServerFault, "is the address right"),
        (httpx.Response(200, json={"other": 1}), ServerFault, "is the address right"),
    ],
)
async def test_a_bad_answer_is_an_error_with_what_was_said(
    answer: httpx.Response, kind_of: type[Exception], message: str
) -> None:
    async with to("asyncio", ScriptedServer(answer), attempts=1) as client:
        with pytest.raises(kind_of, match=message):
            await client.status_counts()


async def test_the_id_of_a_failure_is_told() -> None:
    answer = httpx.Response(
        500, json={"detail": "Internal server error (error_id: 0123456789abcdef0123456789abcdef)"}
    )
    async with to("asyncio", ScriptedServer(answer)) as client:
        with pytest.raises(ServerFault) as error:
            await client.health()
    assert error.value.error_id == "0123456789abcdef0123456789abcdef"
    assert ServerFault("no id").error_id == ""


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            b'{"response": "Ada"}\n{"error": "no (error_id: 0123456789abcdef)"}\n',
            "error_id: 0123456789abcdef",
        ),
        (b'{"response": "Ada"}\nnot JSON\n', "a line is no piece"),
        (b'{"response": "Ada"}\n[1]', "a line is no piece"),
    ],
)
async def test_an_error_in_the_middle_of_an_answer_is_raised(
    kind: Kind, lines: bytes, message: str
) -> None:
    async with to(kind, ScriptedServer(httpx.Response(200, content=lines))) as client:
        with pytest.raises(ServerFault, match=message):
            await client.streamed("Who?")


async def test_pieces_are_whole_however_the_bytes_come(kind: Kind) -> None:
    data = '{"response": "港\u2028口"}\n\n{"llm_generated": true}'.encode()
    async with to(kind, ScriptedServer(httpx.Response(200, content=data))) as client:
        pieces = await client.streamed("Who?")
    assert [(piece.response, piece.llm_generated) for piece in pieces] == [
        ("港\u2028口", None),
        ("", True),
    ]


async def test_a_new_token_takes_the_place_of_the_old_one(kind: Kind) -> None:
    script = ScriptedServer(httpx.Response(200, json=COUNTS, headers={"X-New-Token": "second"}))
    async with to(kind, script, token="first") as client:
        await client.status_counts()
        await client.status_counts()
    assert [request.headers["Authorization"] for request in script.asked] == [
        "Bearer first",
        "Bearer second",
    ]
    async with to(kind, script, api_key="key") as client:
        await client.status_counts()
        await client.status_counts()
    assert "Authorization" not in script.asked[-1].headers


async def test_many_calls_of_one_client_at_once(kind: Kind) -> None:
    async with to(kind, ScriptedServer(httpx.Response(200, json=COUNTS))) as client:
        assert len(await asyncio.gather(*(client.status_counts() for _ in range(20)))) == 20
