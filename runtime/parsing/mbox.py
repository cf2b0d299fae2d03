"""Mailboxes to Markdown: their messages one after the other, each as an e-mail is read. It runs in
the sandbox only.
"""

import re
from collections.abc import Iterator

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.eml import is_mail, message_blocks
from runtime.parsing.figures import Figures
from runtime.parsing.omissions import Omissions, left_out

_FROM = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\d{4}[^\r\n]*\r?\n")
"""The line before each message; it ends with a year, or with a time zone behind it."""

_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
NO_MESSAGE = left_out("message", "messages", "they have no headers of an e-mail")


def text(data: bytes) -> Content:
    """Return the messages under their numbers. Raises InvalidInput for what is no mailbox."""
    before, *messages = _FROM.split(data)
    if before.strip() or not messages:
        raise InvalidInput(
            "no mailbox: it does not begin with a line `From …`: save its messages as .eml"
        )
    omissions = Omissions()
    figures = Figures(omissions)
    return joined(_blocks(messages, omissions, figures), omissions, figures)


def _blocks(messages: list[bytes], omissions: Omissions, figures: Figures) -> Iterator[str]:
    for place, raw in enumerate(messages, start=1):
        message = _QUOTED.sub(rb"\1", raw)
        if is_mail(message):
            yield f"# Message {place}"
            yield from message_blocks(message, omissions, figures)
        else:
            omissions.add(NO_MESSAGE)
