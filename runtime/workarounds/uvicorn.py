"""uvicorn 0.54.0: its HTTP/1.1 protocol on httptools, with limits of size and time.

Its own collects headers without a limit and waits without a deadline; `Config(http=...)` takes
another class, and that of httptools is not documented for inheritance. This one ends requests whose
headers are too large or too slow, bodies that do not arrive, and answers that nobody reads.
Upstream: issue 157 of Kludex/uvicorn, closed without limits for httptools.
May go when `test_the_server_alone_takes_headers_of_any_size` fails
(`tests/unit/runtime/test_workarounds.py`).
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

logger = structlog.get_logger(__name__)

LINGER_SECONDS = 2.0
"""Seconds for which a rejected client may go on sending: closing the connection earlier would lose
the answer.
"""

MAX_FRAMING = 16 * 1024
"""Bytes of chunk framing and trailers that may arrive in a row without any byte of a body."""

MAX_PIPELINED = 16
"""Pipelined requests that may wait on one connection."""


@dataclass(frozen=True)
class HttpLimits:
    """Limits of one request, in bytes and seconds."""

    url_bytes: int = 8192
    header_bytes: int = 32768
    """Of all headers together, names and values."""
    header_count: int = 100
    header_timeout: float = 15.0
    """Seconds from the first byte of a request, or the start of the connection, to the end of the
    headers.
    """
    body_timeout: float = 30.0
    """Seconds for a body. Each `body_rate` bytes of it that arrive give one back, so never more
    than these are left.
    """
    body_rate: int = 16384
    write_timeout: float = 30.0
    """Seconds for which the client may read nothing of an answer."""


class _RequestRefused(Exception):
    """Stops the parser; the answer is in `LimitedProtocol._refusal`."""


class _WatchedFlow(FlowControl):
    """Flow control that tells for how many seconds nothing was read, because the application was
    busy.
    """

    def __init__(self, transport: asyncio.Transport, on_resumed: Callable[[float], None]) -> None:
        super().__init__(transport)
        self._on_resumed = on_resumed
        self._paused_at = 0.0

    def pause_reading(self) -> None:
        """See uvicorn."""
        if not self.read_paused:
            self._paused_at = time.monotonic()
        super().pause_reading()

    def resume_reading(self) -> None:
        """See uvicorn."""
        if self.read_paused:
            self._on_resumed(time.monotonic() - self._paused_at)
        super().resume_reading()


class LimitedProtocol(HttpToolsProtocol):
    """One connection. `limited_protocol` makes subclasses with other `limits`."""

    limits = HttpLimits()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._phase = "idle"
        self._requests = 0
        self._head_size = self._header_count = self._bytes_without_progress = 0
        self._body_ends = 0.0
        self._refusal: tuple[int, str] | None = None
        self._read_deadline: asyncio.TimerHandle | None = None
        self._write_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """See asyncio.Protocol."""
        super().connection_made(transport)
        self.flow = _WatchedFlow(transport, self._on_reading_resumed)
        self._read_deadline = self.loop.call_later(
            self.limits.header_timeout, self._on_header_timeout
        )

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        for timer in (self._read_deadline, self._write_deadline):
            if timer:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol. What a rejected client goes on sending is discarded."""
        if self._refusal:
            return
        before = self._phase, self._requests
        self._bytes_without_progress += len(data)
        super().data_received(data)
        if self._refusal or self.transport.is_closing():
            return
        max_bytes = MAX_FRAMING + self.limits.header_bytes + self.limits.url_bytes
        if self._bytes_without_progress > max_bytes:
            self._refuse(431, self._headers_too_large())
        elif (
            (self._phase, self._requests) != before
            or not self._read_deadline
            or self._phase == "idle"
        ):
            self._restart_read_deadline()

    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]

    def _restart_read_deadline(self) -> None:
        """Cancel the deadline for reading, and start that of the current phase."""
        if self._read_deadline:
            self._read_deadline.cancel()
            self._read_deadline = None
        if self._phase == "head":
            self._read_deadline = self.loop.call_later(
                self.limits.header_timeout, self._on_header_timeout
            )
        elif self._phase == "body":
            self._body_ends = self.loop.time() + self.limits.body_timeout
            self._read_deadline = self.loop.call_later(
                self.limits.body_timeout, self._on_body_timeout
            )
        elif self._is_between_requests() and self.timeout_keep_alive_task is None:
            # Line breaks between requests reset no deadline.
            self._read_deadline = self.loop.call_later(
                self.timeout_keep_alive, self._on_header_timeout
            )

    def _on_reading_resumed(self, seconds_paused: float) -> None:
        self._body_ends += seconds_paused

    def on_message_begin(self) -> None:
        """See httptools."""
        self._phase = "head"
        self._head_size = 0
        self._header_count = 0
        self._requests += 1
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """See httptools."""
        super().on_url(url)
        if len(self.url) > self.limits.url_bytes:
            self._reject(
                414,
                f"the address has more than {self.limits.url_bytes:,} bytes (HTTP_MAX_URL_BYTES)",
            )

    def on_header(self, name: bytes, value: bytes) -> None:
        """See httptools. Trailers count with the headers."""
        self._head_size += len(name) + len(value)
        self._header_count += 1
        if self._head_size > self.limits.header_bytes:
            self._reject(431, self._headers_too_large())
        if self._header_count > self.limits.header_count:
            max_headers = self.limits.header_count
            self._reject(431, f"the request has more than {max_headers} headers (HTTP_MAX_HEADERS)")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """See httptools."""
        self._phase = "body"
        self._bytes_without_progress = 0
        if len(self.pipeline) >= MAX_PIPELINED:
            self._reject(429, f"more than {MAX_PIPELINED} requests wait on one connection")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        self._bytes_without_progress = 0
        latest_end = self.loop.time() + self.limits.body_timeout
        self._body_ends = min(self._body_ends + len(body) / self.limits.body_rate, latest_end)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """See httptools."""
        self._phase = "idle"
        self._bytes_without_progress = 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        """See asyncio.Protocol."""
        super().pause_writing()
        self._write_deadline = self.loop.call_later(
            self.limits.write_timeout, self._on_write_timeout
        )

    def resume_writing(self) -> None:
        """See asyncio.Protocol."""
        if self._write_deadline:
            self._write_deadline.cancel()
            self._write_deadline = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be parsed or that was rejected."""
        self._refuse(*(self._refusal or (400, msg)))

    def _headers_too_large(self) -> str:
        return (
            f"the headers have more than {self.limits.header_bytes:,} bytes (HTTP_MAX_HEADER_BYTES)"
        )

    def _reject(self, status: int, detail: str) -> None:
        self._refusal = status, detail
        raise _RequestRefused

    def _on_header_timeout(self) -> None:
        if self._phase == "idle":  # nothing was asked, so nothing is answered
            self.transport.close()
        else:
            self._refuse(
                408,
                (
                    f"the headers did not come within {self.limits.header_timeout:g} s "
                    "(HTTP_HEADER_TIMEOUT)"
                ),
            )

    def _on_body_timeout(self) -> None:
        if self.cycle.response_complete:
            self.transport.close()
            return
        seconds_left = self._body_ends - self.loop.time()
        if self.flow.read_paused:  # the application does not read
            seconds_left = self.limits.body_timeout
        if seconds_left > 0:
            self._read_deadline = self.loop.call_later(seconds_left, self._on_body_timeout)
            return
        self._refuse(
            408,
            f"for {self.limits.body_timeout:g} s (HTTP_BODY_TIMEOUT) the body came at less than "
            f"{self.limits.body_rate:,} bytes a second (HTTP_MIN_BODY_RATE)",
        )

    def _on_write_timeout(self) -> None:
        logger.info("an answer is given up: nobody reads it", seconds=self.limits.write_timeout)
        self.transport.abort()

    def _refuse(self, status: int, detail: str) -> None:
        """Send the error unless an answer has started, and end the connection."""
        self._refusal = status, detail
        cycle = self.cycle
        silent = False
        if cycle is not None and not cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            silent = cycle.response_started or self._phase == "head"
            cycle.disconnected = True
            cycle.message_event.set()
        if silent or self.transport.is_closing():
            self.transport.close()
            return
        body = json.dumps({"detail": detail}).encode()
        head = (
            b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            % len(body)
        )
        self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.write_eof()
        self.flow.resume_reading()
        if self._read_deadline:
            self._read_deadline.cancel()
        self._read_deadline = self.loop.call_later(LINGER_SECONDS, self.transport.abort)


def limited_protocol(limits: HttpLimits) -> type[LimitedProtocol]:
    """Return the protocol class with these limits."""
    return type("Guarded", (LimitedProtocol,), {"limits": limits})
