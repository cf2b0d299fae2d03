"""Reads what a provider says of a failure: its own sentence, its codes and its status, whatever
shape it has.

Known shapes: `error.message`, `error` as a text, `detail` as a text or as FastAPI's list,
`message`, `errors`, RFC 7807's `title` and `detail`, Google's list of errors, an upstream's error
inside a gateway's, plain text and HTML. Some servers send them with status 200.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from http import HTTPStatus
from typing import Any, cast

LONGEST_SENTENCE = 300
"""Characters of a provider's sentence that people are shown."""

DEEPEST = 6
"""Levels of an error inside another one that are read."""

SENTENCES = (
    "error",
    "message",
    "detail",
    "errors",
    "msg",
    "error_message",
    "errormessage",
    "error_msg",
    "error_description",
    "description",
    "title",
    "reason",
    "faultstring",
    "fault",
    "innererror",
)
"""Fields in which a sentence is looked for, in this order; their case does not count."""

CODES = ("code", "type", "status", "error_type", "error_code", "object")
"""Fields that name an error for programs."""

ANSWERS = ("choices", "data", "results", "output")
"""Fields that an answer has and an error has not."""

_SECRET = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|xai|key)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}|(?<=bearer )\S+|(?<=key=)[^\s&]+"  # noqa: E501
    r"|(?<=://)[^\s/@]+(?=@)",
    re.IGNORECASE,
)
"""What looks like a key, or like the account of an address."""

_ADDRESS = re.compile(
    r"\b[a-z][\w+.-]*://[^\s\"'<>)\]]+"
    r"|[\w.+-]+@[\w-]+\.[\w.-]*\w"
    r"|\[?\b(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}\b\]?(?::\d{2,5})?"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?\b"
    r"|\b(?:[\w-]+\.)+[\w-]+:\d{2,5}\b|\b[\w-]+:\d{4,5}\b"
    r"|\b(?:[\w-]+\.)+(?:local|localdomain|internal|intranet|lan|corp|svc)\b|\blocalhost\b"
    r"|(?<![\w/])/(?:[\w.-]+/)+[\w.-]+"
    r"|\b(?:org|proj|acct|user)[-_]\w{6,}",
    re.IGNORECASE,
)
"""What names a place or an account: a URL, an e-mail address, an IP address, a host, a path, an
account's id.
"""

_MARKUP = re.compile(r"(?is)<(script|style|head)\b.*?</\1\s*>|<[^>]*>")
_TITLE = re.compile(r"(?is)<title[^>]*>(.*?)</title>")


@dataclass(frozen=True)
class ProviderError:
    """A provider's error. `status` is that of HTTP, or the one that the body of a 200 names; 0
    where none is.
    """

    status: int
    sentence: str
    codes: frozenset[str] = frozenset()


def error_of(status: int, body: Any) -> ProviderError:
    """Return the error in a body: parsed JSON, or the text of one that is not JSON."""
    sentence = sentence_of(body)
    if status < 300:
        status = _status_in(body)
    return ProviderError(status, sentence or _phrase(status), frozenset(_codes(body, DEEPEST)))


def error_in(answer: Mapping[str, Any]) -> ProviderError | None:
    """Return the error that stands in place of an answer with status 200; None where there is
    none.
    """
    if any(answer.get(field) for field in ANSWERS):
        return None
    fields = {name.lower() for name, value in answer.items() if value}
    if fields.isdisjoint(("error", "errors", "detail", "message", "msg", "error_msg", "fault")):
        return None
    return error_of(200, answer)


def parsed_body(content: bytes | str) -> Any:
    """Return the JSON of a body, or its text where it is not JSON."""
    text = content if isinstance(content, str) else content.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


def wait_in(body: Any, depth: int = DEEPEST) -> str | None:
    """Return the seconds to wait that stand in the body of an error, as Google's `retryDelay` does;
    None where none do.
    """
    if not depth:
        return None
    if isinstance(body, list):
        waits = [wait_in(item, depth - 1) for item in cast(list[Any], body)[:10]]
        return next((wait for wait in waits if wait is not None), None)
    if not isinstance(body, dict):
        return None
    fields = cast(dict[str, Any], body)
    delay = fields.get("retryDelay")
    if isinstance(delay, str):
        return delay.removesuffix("s")
    return wait_in(fields.get("error"), depth - 1) or wait_in(fields.get("details"), depth - 1)


def sentence_of(body: Any) -> str:
    """Return the provider's own sentence on one line, empty where it says nothing."""
    parts = dict.fromkeys(" ".join(part.split()) for part in _sentences(body, DEEPEST))
    return "; ".join(part for part in parts if part)


def shown(sentence: str, secrets: Sequence[str] = ()) -> str:
    """Return the sentence as people may see it: without these secrets or what looks like one, and
    bounded.
    """
    for secret in secrets:
        sentence = sentence.replace(secret, "***")
    line = " ".join(_SECRET.sub("***", sentence).split())
    return line if len(line) <= LONGEST_SENTENCE else f"{line[: LONGEST_SENTENCE - 1]}…"


def shown_to_askers(sentence: str, secrets: Sequence[str] = ()) -> str:
    """Return the sentence as whoever asked a question may see it: as `shown` does, and without any
    address.
    """
    return shown(_ADDRESS.sub("…", shown(sentence, secrets)))


def _sentences(body: Any, depth: int) -> Iterator[str]:
    if depth <= 0:
        return
    if isinstance(body, str):
        yield from _text_sentences(body, depth)
    elif isinstance(body, list):
        for item in cast(list[Any], body)[:3]:
            yield from _sentences(item, depth - 1)
    elif isinstance(body, dict):
        yield from _fields_sentences(cast(dict[str, Any], body), depth)


def _text_sentences(text: str, depth: int) -> Iterator[str]:
    text = text.strip()
    if text[:1] in ("{", "["):
        inside = parsed_body(text)
        if not isinstance(inside, str):
            yield from _sentences(inside, depth - 1)
            return
    if text[:1] == "<":
        title = _TITLE.search(text)
        text = unescape(_MARKUP.sub(" ", text)).strip() or unescape(title[1] if title else "")
    yield text


def _fields_sentences(body: dict[str, Any], depth: int) -> Iterator[str]:
    fields = {name.lower(): value for name, value in body.items()}
    for name in SENTENCES:
        sentences = list(_sentences(fields.get(name), depth - 1))
        if not any(sentences):
            continue
        place = _place(fields.get("loc"))
        yield f"{place}: {sentences[0]}" if place else sentences[0]
        yield from sentences[1:]
        # Of a short name of the error, such as "Bad Request", the message beside it is the
        # sentence.
        if name != "error" or not isinstance(fields[name], str):
            break
    yield from _upstream_sentences(fields.get("metadata"), depth)


def _place(location: Any) -> str:
    """Return the field that FastAPI blames, such as `input.0`; empty where it names none."""
    if not isinstance(location, list):
        return ""
    return ".".join(str(part) for part in cast(list[Any], location) if part != "body")


def _upstream_sentences(metadata: Any, depth: int) -> Iterator[str]:
    """Yield what the provider behind a gateway said."""
    if isinstance(metadata, dict):
        inside = cast(dict[str, Any], metadata)
        yield from _sentences(inside.get("raw"), depth - 1)
        yield from _sentences(inside.get("reasons"), depth - 1)


def _codes(body: Any, depth: int) -> Iterator[str]:
    if depth <= 0:
        return
    if isinstance(body, list):
        for item in cast(list[Any], body)[:3]:
            yield from _codes(item, depth - 1)
    elif isinstance(body, dict):
        fields = cast(dict[str, Any], body)
        for name, value in fields.items():
            if name.lower() in CODES and isinstance(value, str):
                yield value
            elif name.lower() in ("error", "errors", "detail", "details", "innererror"):
                yield from _codes(value, depth - 1)
            elif name.lower() == "reason" and isinstance(value, str):
                yield value


def _status_in(body: Any, depth: int = DEEPEST) -> int:
    """Return the status of an error that a body names, 0 where it names none."""
    if isinstance(body, list):
        return _status_in(cast(list[Any], body)[0], depth - 1) if body and depth else 0
    if not isinstance(body, dict) or not depth:
        return 0
    fields = {name.lower(): value for name, value in cast(dict[str, Any], body).items()}
    for name in ("code", "status", "status_code", "statuscode", "http_code", "error_code"):
        value = fields.get(name)
        number = int(value) if isinstance(value, str) and value.isdecimal() else value
        if isinstance(number, int) and 400 <= number < 600:
            return number
    return _status_in(fields.get("error"), depth - 1) or _status_in(fields.get("detail"), depth - 1)


def _phrase(status: int) -> str:
    """Return what a status means, where the provider gives no reason itself."""
    try:
        return f"{HTTPStatus(status).phrase}, without a reason"
    except ValueError:
        return "it gives no reason"
