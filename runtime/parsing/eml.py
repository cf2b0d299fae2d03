"""E-mail to Markdown: headers, text, and attachments of kinds that are read. It runs in the sandbox
only.
"""

import importlib
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import PurePosixPath
from typing import cast

from runtime.errors import InvalidInput
from runtime.parsing import html
from runtime.parsing.content import Content, joined
from runtime.parsing.decoding import decode
from runtime.parsing.figures import Figures, is_picture
from runtime.parsing.kinds import KINDS, TEXT_PARSERS, Parser
from runtime.parsing.omissions import PICTURE, Omissions

HEADERS = ("From", "To", "Cc", "Date", "Subject")
MAX_DEPTH = 5
"""Messages in messages that are read."""

MAX_PARTS = 1000
"""Parts of a message that are read."""

_SIGNS_OF_MAIL = ("From", "Date", "Subject", "Received", "Message-ID", "MIME-Version")
_ENOUGH = 0.3
"""The length of a plain text, as a part of that of the page beside it, with which it says the
same.
"""

_OFFICE_PARSERS: dict[str, Parser] = {
    kind.media_type.lower(): kind.parser
    for kind in KINDS.values()
    if kind.parser and not kind.is_text and not kind.is_picture
}


def text(data: bytes) -> Content:
    """Return the message, and in it those that are attached. Raises InvalidInput for what is no
    e-mail.
    """
    if not is_mail(data):
        raise InvalidInput(
            "no e-mail: it has none of its headers: save it anew as .eml, or its text as .txt"
        )
    omissions = Omissions()
    figures = Figures(omissions)
    return joined(message_blocks(data, omissions, figures), omissions, figures)


def is_mail(data: bytes) -> bool:
    """Return whether a message has any of the headers of an e-mail."""
    message = _message(data)
    return any(name in message for name in _SIGNS_OF_MAIL)


def message_blocks(data: bytes, omissions: Omissions, figures: Figures) -> Iterator[str]:
    """Yield the headers and the texts of a message; what is left out is counted, and pictures go
    into `figures`.
    """
    return _Reader(omissions, figures).message(_message(data), 0)


def _message(data: bytes) -> EmailMessage:
    return message_from_bytes(data, policy=policy.default)


class _Reader:
    """Reads one message with all in it."""

    def __init__(self, omissions: Omissions, figures: Figures) -> None:
        self._omissions = omissions
        self._figures = figures
        self._parts = 0

    def message(self, message: EmailMessage, depth: int) -> Iterator[str]:
        """Yield the headers, and the texts of the parts in their order."""
        yield "\n".join(f"{name}: {words}" for name in HEADERS if (words := _header(message, name)))
        yield from self._part(message, depth)

    def _part(self, part: EmailMessage, depth: int) -> Iterator[str]:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise InvalidInput(
                f"has more than {MAX_PARTS:,} parts: save what matters of it as files"
            )
        kind = part.get_content_type()
        if kind == "message/rfc822":
            yield from self._attached_message(part, depth)
        elif kind == "multipart/alternative":
            yield from self._alternative(part, depth)
        elif part.is_multipart():
            for inner in _inner(part):
                yield from self._part(inner, depth)
        elif part.get_content_disposition() == "attachment" or _name(part):
            yield from self._attachment(part)
        elif part.get_content_maintype() == "text":
            yield _text(part, self._omissions)
        else:
            yield from self._other(part)

    def _alternative(self, part: EmailMessage, depth: int) -> Iterator[str]:
        """Yield the plain text, or the page where that says more; of neither what else there is."""
        texts: dict[str, str] = {}
        other_parts: list[EmailMessage] = []
        for inner in _inner(part):
            kind = inner.get_content_type()
            if (
                kind in ("text/plain", "text/html")
                and inner.get_content_disposition() != "attachment"
            ):
                texts.setdefault(kind, _text(inner, self._omissions))
            else:
                other_parts.append(inner)
        blocks = [block for inner in other_parts for block in self._part(inner, depth)]
        plain_text = texts.get("text/plain", "")
        page = texts.get("text/html", "")
        beside = page or "\n\n".join(blocks)
        if plain_text.strip() and len(plain_text) >= _ENOUGH * len(beside):
            yield plain_text
        elif page:
            yield page
        else:
            yield from blocks or [plain_text]

    def _attached_message(self, part: EmailMessage, depth: int) -> Iterator[str]:
        if depth == MAX_DEPTH:
            self._omissions.note(
                f"messages more than {MAX_DEPTH} deep in one another were left out"
            )
            return
        for inner in _inner(part):
            yield "## Attached message"
            yield from self.message(inner, depth + 1)

    def _attachment(self, part: EmailMessage) -> Iterator[str]:
        name = _name(part) or "without a name"
        data = _bytes(part)
        suffix = PurePosixPath(name).suffix.lower()
        if suffix == ".eml":
            yield f"## Attachment: {name}"
            yield from self.message(_message(data), MAX_DEPTH)
            return
        kind = KINDS.get(suffix)
        if kind and kind.is_picture:
            yield from self._other(part)
            return
        parser = kind.parser if kind else _OFFICE_PARSERS.get(part.get_content_type())
        is_text = kind is not None or part.get_content_maintype() == "text"
        if not parser and not is_text:
            yield from self._other(part)
            return
        try:
            content = _parsed(parser, data)
        except InvalidInput as error:
            self._omissions.note(f"the attachment {name} was left out: {error}")
            return
        for warning in content.warnings:
            self._omissions.note(f"{name}: {warning}")
        yield f"## Attachment: {name}"
        yield self._figures.merged(content.text, content.figures)

    def _other(self, part: EmailMessage) -> Iterator[str]:
        """Yield what stands for a picture; other parts are left out."""
        data = _bytes(part)
        if part.get_content_maintype() == "image" and is_picture(data):
            yield self._figures.place(data, _name(part))
        else:
            self._leave_out(part)

    def _leave_out(self, part: EmailMessage) -> None:
        if part.get_content_maintype() == "image" and not _name(part):
            self._omissions.add(PICTURE)
        elif not part.get_content_type().startswith(
            ("application/pgp-signature", "application/pkcs7-signature")
        ):
            attachment = _name(part) or "without a name"
            kind = part.get_content_type()
            size = len(_bytes(part))
            self._omissions.note(
                f"the attachment {attachment} ({kind}, {size:,} bytes) was left out"
            )


def _parsed(parser: Parser | None, data: bytes) -> Content:
    if parser is None:
        return Content(decode(data).text)
    module = importlib.import_module(f"runtime.parsing.{parser}")
    return module.text(decode(data).text if parser in TEXT_PARSERS else data)


def _inner(part: EmailMessage) -> list[EmailMessage]:
    payload: object = part.get_payload()
    return cast("list[EmailMessage]", payload) if isinstance(payload, list) else []


def _header(message: EmailMessage, name: str) -> str:
    """Return a header as people read it, all of that name together; empty where it cannot be
    read.
    """
    try:
        values = [str(value) for value in message.get_all(name, [])]
    except (ValueError, LookupError, AttributeError, TypeError):
        return ""
    return ", ".join(" ".join(value.split()) for value in values)


def _name(part: EmailMessage) -> str:
    try:
        name = part.get_filename() or ""
    except (ValueError, LookupError, AttributeError, TypeError):
        return "with a damaged name"
    return " ".join(str(name).split()).replace("/", "_")[:200]


def _bytes(part: EmailMessage) -> bytes:
    payload: object = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _text(part: EmailMessage, omissions: Omissions) -> str:
    """Return the text of a part; a page as Markdown."""
    data = _bytes(part)
    if not data.strip():
        return ""
    charset: object = part.get_param("charset") or ""
    words = decode(data, declared_encoding=charset if isinstance(charset, str) else "").text
    if part.get_content_type() != "text/html":
        return words.replace("\r\n", "\n").strip()
    return html.page_text(words, omissions)
