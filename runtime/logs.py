"""Logs: structured lines of JSON on standard error. Without traces, which take longer to import."""

import io
import logging
import sys
from contextlib import suppress
from typing import TextIO, cast

import structlog
from stamina.instrumentation import set_on_retry_hooks


class LogFile(io.TextIOBase):
    """Standard error, for logs: where a line cannot be written, on a full disk, it is lost, and
    nothing else is.

    Else the task that meant to say what went wrong would end of saying it.
    """

    def write(self, text: str, /) -> int:
        with suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


def configure(service: str, level: str) -> None:
    """Write logs of this level and above, each with the name of the service."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", LogFile())),
        cache_logger_on_first_use=True,
    )
    # Loops that try again log that themselves; the library would quote messages of servers, which
    # name documents.
    set_on_retry_hooks([])
    structlog.contextvars.bind_contextvars(service=service)
