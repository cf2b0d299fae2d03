"""The HTTP protocol of every server of ours: what a client may send before anybody asks who it is, and how slowly.

uvicorn's own protocol on httptools collects headers without a limit and waits without an end. This one ends requests
whose head is too large or comes too slowly, bodies that do not arrive, and answers that nobody reads.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import structlog
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

logger = structlog.get_logger(__name__)

LINGER = 2.0
"""Seconds for which a refused client may still send: a connection that is closed before loses the answer."""

FRAMING = 16 * 1024
"""Bytes of a request beyond its head that may come in a row without any of them being of its body."""

MOST_PIPELINED = 16
"""Requests that may wait on one connection for the answer to the one before."""


@dataclass(frozen=True)
class HttpLimits:
    """What one request may take: bytes, and seconds."""

    url_bytes: int = 8192
    header_bytes: int = 32768
    """Of all headers together, names and values."""
    header_count: int = 100
    header_timeout: float = 15.0
    """From the first byte of a request, or the beginning of the connection, to the end of its headers."""
    body_timeout: float = 30.0
    """For a body, and a second more for each `body_rate` bytes of it that came."""
    body_rate: int = 16384
    write_timeout: float = 30.0
    """For which an answer that waits to be read may stand still."""


class _Refused(Exception):
    """Ends the parser's work; the answer is kept by whoever raised it."""


class GuardedProtocol(HttpToolsProtocol):
    """One connection. Subclasses with other `limits` are made by `guarded`."""

    limits = HttpLimits()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._phase, self._requests = "idle", 0
        self._head_size = self._header_count = self._without_progress = self._body_size = 0
        self._body_began = 0.0
        self._refusal: tuple[int, str] | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """See asyncio.Protocol."""
        super().connection_made(transport)
        self._reading = self.loop.call_later(self.limits.header_timeout, self._head_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        for timer in (self._reading, self._writing):
            if timer:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol. What a refused client still sends is read and forgotten."""
        if self._refusal:
            return
        before = self._phase, self._requests
        self._without_progress += len(data)
        super().data_received(data)
        if self._refusal or self.transport.is_closing():
            return
        most = FRAMING + self.limits.header_bytes + self.limits.url_bytes
        if self._without_progress > most:
            self._refuse(431, self._too_large())
        elif (self._phase, self._requests) != before or not self._reading or self._phase == "idle":
            self._watch()

    def _watch(self) -> None:
        """Start the deadline of what is being read now, and end the one before."""
        if self._reading:
            self._reading.cancel()
            self._reading = None
        if self._phase == "head":
            self._reading = self.loop.call_later(self.limits.header_timeout, self._head_is_late)
        elif self._phase == "body":
            self._body_began = self.loop.time()
            self._reading = self.loop.call_later(self.limits.body_timeout, self._body_is_late)
        elif (self.cycle is None or self.cycle.response_complete) and self.timeout_keep_alive_task is None:  # pyright: ignore[reportUnnecessaryComparison]
            # Line breaks between requests are nothing, and end no deadline.
            self._reading = self.loop.call_later(self.timeout_keep_alive, self._head_is_late)

    def on_message_begin(self) -> None:
        """See httptools."""
        self._phase, self._head_size, self._header_count, self._body_size = "head", 0, 0, 0
        self._requests += 1
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """See httptools."""
        super().on_url(url)
        if len(self.url) > self.limits.url_bytes:
            self._stop(414, f"the address has more than {self.limits.url_bytes:,} bytes (HTTP_MAX_URL_BYTES)")

    def on_header(self, name: bytes, value: bytes) -> None:
        """See httptools. Those behind a body count with those before it."""
        self._head_size += len(name) + len(value)
        self._header_count += 1
        if self._head_size > self.limits.header_bytes:
            self._stop(431, self._too_large())
        if self._header_count > self.limits.header_count:
            most = self.limits.header_count
            self._stop(431, f"the request has more than {most} headers (HTTP_MAX_HEADERS)")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """See httptools."""
        self._phase, self._without_progress = "body", 0
        if len(self.pipeline) >= MOST_PIPELINED:
            self._stop(429, f"more than {MOST_PIPELINED} requests wait on one connection")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        self._without_progress = 0
        self._body_size += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """See httptools."""
        self._phase, self._without_progress = "idle", 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        """See asyncio.Protocol."""
        super().pause_writing()
        self._writing = self.loop.call_later(self.limits.write_timeout, self._reader_is_late)

    def resume_writing(self) -> None:
        """See asyncio.Protocol."""
        if self._writing:
            self._writing.cancel()
            self._writing = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """What uvicorn answers to a request that cannot be read, or that was stopped."""
        self._refuse(*(self._refusal or (400, msg)))

    def _too_large(self) -> str:
        return f"the headers have more than {self.limits.header_bytes:,} bytes (HTTP_MAX_HEADER_BYTES)"

    def _stop(self, status: int, detail: str) -> None:
        self._refusal = status, detail
        raise _Refused

    def _head_is_late(self) -> None:
        if self._phase == "idle":  # nothing was asked, so nothing is answered
            self.transport.close()
        else:
            self._refuse(408, f"the headers did not come within {self.limits.header_timeout:g} s (HTTP_HEADER_TIMEOUT)")

    def _body_is_late(self) -> None:
        if self.cycle.response_complete:
            self.transport.close()
            return
        now = self.loop.time()
        if self.flow.read_paused:  # it is we who do not read
            self._body_began = now
        rest = self._body_began + self.limits.body_timeout + self._body_size / self.limits.body_rate - now
        if rest > 0:
            self._reading = self.loop.call_later(rest, self._body_is_late)
            return
        self._refuse(408, f"the body did not come within {self.limits.body_timeout:g} s (HTTP_BODY_TIMEOUT)")

    def _reader_is_late(self) -> None:
        logger.info("an answer is given up: nobody reads it", seconds=self.limits.write_timeout)
        self.transport.abort()

    def _refuse(self, status: int, detail: str) -> None:
        """Answer where no other answer is on its way, and end the connection."""
        self._refusal = status, detail
        cycle, silent = self.cycle, False
        if cycle is not None and not cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            silent = cycle.response_started or self._phase == "head"
            cycle.disconnected = True
            cycle.message_event.set()
        if silent or self.transport.is_closing():
            self.transport.close()
            return
        body = json.dumps({"detail": detail}).encode()
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.write_eof()
        self.flow.resume_reading()
        if self._reading:
            self._reading.cancel()
        self._reading = self.loop.call_later(LINGER, self.transport.abort)


def guarded(limits: HttpLimits) -> type[GuardedProtocol]:
    """The protocol with these limits."""
    return type("Guarded", (GuardedProtocol,), {"limits": limits})
